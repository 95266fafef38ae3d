//! The entries of a back end whose instructions not every processor has.

/// The engine and the rule check of a back end, made of the generic ones for its `$word`. They exist
/// only where `$is_available` is true, which vouches for the instructions of `$features`.
macro_rules! entries {
    ($word:ident: $engine:ident, $check:ident, $is_available:ident, $features:literal) => {
        /// The engine of this back end. It exists only where the processor has the instructions.
        pub(super) struct $engine(Engine<$word>);

        impl $engine {
            /// An engine; `None` if the processor does not have the instructions.
            pub(super) fn new() -> Option<Self> {
                #[target_feature(enable = $features)]
                fn compiled() -> Engine<$word> {
                    Engine::new(dive)
                }
                $is_available().then(|| Self(unsafe { compiled() }))
            }

            /// [`Engine::run`], compiled for the instructions.
            pub(super) fn run(&mut self, job: &mut SearchJob<'_>) {
                #[target_feature(enable = $features)]
                fn compiled(engine: &mut Engine<$word>, job: &mut SearchJob<'_>) {
                    engine.run(job);
                }
                unsafe { compiled(&mut self.0, job) }
            }

            /// [`Engine::stats`].
            pub(super) const fn stats(&self) -> LaneStats {
                self.0.stats()
            }
        }

        /// [`Engine::dive`], compiled apart from the search, because whatever is inlined into the
        /// search changes how all of it is compiled.
        fn dive(engine: &mut Engine<$word>, job: &mut SearchJob<'_>) {
            #[target_feature(enable = $features)]
            fn compiled(engine: &mut Engine<$word>, job: &mut SearchJob<'_>) {
                engine.dive(job);
            }
            unsafe { compiled(engine, job) }
        }

        /// The rule check of this back end. It exists only where the processor has the instructions.
        pub(super) struct $check(RuleCheck<$word>);

        impl $check {
            /// A check; `None` if the processor does not have the instructions.
            pub(super) fn new() -> Option<Self> {
                #[target_feature(enable = $features)]
                fn compiled() -> RuleCheck<$word> {
                    RuleCheck::new()
                }
                $is_available().then(|| Self(unsafe { compiled() }))
            }

            /// [`RuleCheck::find_broken`], compiled for the instructions.
            pub(super) fn find_broken(&mut self, puzzles: &[[u8; 81]], broken: &mut Vec<usize>) {
                #[target_feature(enable = $features)]
                fn compiled(check: &mut RuleCheck<$word>, puzzles: &[[u8; 81]], broken: &mut Vec<usize>) {
                    check.find_broken(puzzles, broken);
                }
                unsafe { compiled(&mut self.0, puzzles, broken) }
            }
        }
    };
}
pub(super) use entries;
