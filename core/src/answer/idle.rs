//! Values that threads borrow, because they are dear to make.

use std::sync::Mutex;

use crate::poison::IgnorePoison as _;

/// The values that nobody has borrowed, the one used last at the end.
pub(super) struct Idle<T>(Mutex<Vec<T>>);

impl<T> Default for Idle<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Idle<T> {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Does a job with a value, which is made if none is idle. A value whose job panics is not used
    /// again.
    pub(super) fn with<R>(&self, make: impl FnOnce() -> T, job: impl FnOnce(&mut T) -> R) -> R {
        let kept = self.0.lock().ignore_poison().pop();
        let mut value = kept.unwrap_or_else(make);
        let result = job(&mut value);
        self.0.lock().ignore_poison().push(value);
        result
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_value_is_used_again_unless_its_job_panics() {
        let idle = Idle::new();
        let count = |idle: &Idle<u32>| {
            idle.with(
                || 0,
                |value| {
                    *value += 1;
                    *value
                },
            )
        };
        assert_eq!([count(&idle), count(&idle)], [1, 2]);
        let broken = catch_unwind(AssertUnwindSafe(|| idle.with(|| 0, |_| panic!("on purpose"))));
        assert!(broken.is_err());
        assert_eq!(count(&idle), 1);
    }
}
