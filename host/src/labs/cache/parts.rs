//! The parts of the lab: the variants of each.

use device::{CacheConfig, LoadCaching};
use kernels::cache as kernel;

use super::table::{Operator, Reads};
use super::{Cache, Data, SETTING, Target};
use crate::labs::lab::Variant;
use crate::labs::launcher::Preferences;

impl Cache {
    pub(super) fn operators(&self, place: &Target, operators: &[Operator]) -> Vec<Variant<'_, Data>> {
        let patterns = self.options.pattern.iter();
        let pairs = patterns.flat_map(|&reads| operators.iter().map(move |&operator| (reads, operator)));
        let variant = |(reads, (operator, kernel)): (Reads, Operator)| {
            self.variant(place, format!("{operator}-{}", reads.name()), kernel, reads, Preferences::default())
                .group("operators")
                .axis("operator", operator)
                .fact(SETTING, place.setting(operator, ""))
        };
        pairs.map(variant).collect()
    }

    pub(super) fn configurations(&self, place: &Target) -> Vec<Variant<'_, Data>> {
        let wishes = [
            ("nothing", CacheConfig::None),
            ("shared", CacheConfig::Shared),
            ("l1", CacheConfig::L1),
            ("equal", CacheConfig::Equal),
        ];
        let scopes = [("context", true), ("kernel", false)];
        let pairs = scopes.into_iter().flat_map(|scope| wishes.map(|wish| (scope, wish)));
        let variant = |((scope, of_context), (prefers, wish)): ((&str, bool), (&str, CacheConfig))| {
            let preferences = match of_context {
                true => Preferences { context_cache: wish, ..Preferences::default() },
                false => Preferences { cache: wish, ..Preferences::default() },
            };
            let name = format!("{scope}-prefers-{prefers}");
            self.variant(place, name, &kernel::cache_ca, self.busiest(), preferences)
                .group("configurations")
                .axis("scope", scope)
                .axis("prefers", prefers)
        };
        pairs.map(variant).collect()
    }

    pub(super) fn carveouts(&self, place: &Target) -> Vec<Variant<'_, Data>> {
        let variant = |carveout: u8| {
            let preferences = Preferences { carveout: Some(carveout), ..Preferences::default() };
            self.variant(place, format!("carveout-{carveout}"), &kernel::cache_ca, self.busiest(), preferences)
                .group("carveouts")
                .axis("carveout", carveout)
        };
        [0, 25, 50, 75, 100].map(variant).into()
    }

    /// The pattern that profits most from L1, for the variants that change its size.
    fn busiest(&self) -> Reads {
        self.options.pattern.iter().copied().max_by_key(|&reads| reads as usize).unwrap_or(Reads::Table)
    }

    /// `{ca, cg}` x `{a small L1, a large L1}`.
    pub(super) fn compiled(&self, place: &Target) -> Vec<Variant<'_, Data>> {
        let mut variants = Vec::new();
        for &reads in &self.options.pattern {
            for (compiled, load_caching) in [("ca", LoadCaching::AllLevels), ("cg", LoadCaching::GlobalLevel)] {
                for (l1, cache) in [("small", CacheConfig::Shared), ("large", CacheConfig::L1)] {
                    let preferences = Preferences { cache, load_caching, ..Preferences::default() };
                    let name = format!("dlcm-{compiled}-{l1}-l1-{}", reads.name());
                    variants.push(
                        self.variant(place, name, &kernel::cache_default, reads, preferences)
                            .group(format!("compiled, {}", reads.name()))
                            .axis("compiled", compiled)
                            .axis("l1", l1)
                            .fact(SETTING, place.setting(compiled, l1)),
                    );
                }
            }
        }
        variants
    }
}
