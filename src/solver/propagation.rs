//! placeholder
use super::*;
/// The strategy `propagation`.
#[derive(Clone, Copy, Debug)]
pub struct Propagation;
impl Strategy for Propagation {
    fn name(&self) -> &'static str {
        "propagation"
    }
    fn summary(&self) -> &'static str {
        "placeholder"
    }
    fn supports(&self, _order: Order) -> bool {
        true
    }
    fn solver(&self, order: Order) -> Box<dyn Solver> {
        Backtracking.solver(order)
    }
}
