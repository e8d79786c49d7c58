//! How often each element is loaded or updated: the heat maps of a report's rows. `--picture elements`,
//! `--report` and a lab's page show them. Also which tiles run together, of `--picture tiles`. Pure.

use picture::{Counted, ElementMap, ElementMaps, TileOrders};

use simt::requests::ArrayCounts;

use super::variant_report::VariantReport;

/// The most rows that are drawn where a lab names none of those that ran.
const MOST: usize = 3;

/// Whose accesses to each element make a lab's point.
#[derive(Clone, Copy, Debug)]
pub struct Elements {
    /// The rows.
    pub rows: &'static [&'static str],
    /// What the arrays that they access so are called, by their addresses; those with an empty name are
    /// left out.
    pub arrays: &'static [&'static str],
    /// What is counted of each element.
    pub counted: Counted,
}

/// The maps; `None` if nothing was counted.
pub(crate) fn maps(variants: &[VariantReport], elements: Option<Elements>) -> Option<ElementMaps> {
    let counted_of = elements.map_or(Counted::Loads, |it| it.counted);
    let accessed = |array: &&ArrayCounts| counts(array, counted_of).iter().any(|count| *count > 0);
    let counted: Vec<&VariantReport> =
        variants.iter().filter(|variant| variant.arrays.iter().any(|array| accessed(&array))).collect();
    let is_named = |row: &&&VariantReport| elements.is_some_and(|it| it.rows.contains(&row.name.as_str()));
    let named: Vec<&VariantReport> = counted.iter().filter(is_named).copied().collect();
    let rows = if named.len() > 1 && counted.len() > MOST { named } else { counted };
    let rows: Vec<_> = rows.into_iter().take(MOST).collect();
    let mut addresses: Vec<u64> =
        rows.iter().flat_map(|row| row.arrays.iter().filter(accessed)).map(|array| array.address).collect();
    addresses.sort_unstable();
    addresses.dedup();
    let name = |address: u64| {
        let index = addresses.binary_search(&address).unwrap_or(0);
        let named = elements.and_then(|it| it.arrays.get(index)).map(|name| (*name).to_owned());
        named.unwrap_or_else(|| format!("array {}", index + 1))
    };
    let map = |row: &&VariantReport| {
        let arrays = row.arrays.iter().filter(accessed);
        let arrays = arrays.map(|array| (name(array.address), counts(array, counted_of).to_vec()));
        ElementMap { name: row.name.clone(), arrays: arrays.filter(|(name, _)| !name.is_empty()).collect() }
    };
    let variants: Vec<ElementMap> = rows.iter().map(map).collect();
    (!variants.is_empty()).then_some(ElementMaps { variants, counted: counted_of })
}

/// Which tiles the rows' blocks take; `None` if no row has tiles.
pub(crate) fn tile_orders(variants: &[VariantReport]) -> Option<TileOrders> {
    let order = |row: &VariantReport| Some((row.name.clone(), row.tiles.clone()?));
    let orders: Vec<_> = variants.iter().filter_map(order).collect();
    (!orders.is_empty()).then_some(TileOrders { orders })
}

/// What a map counts of an array, word by word.
fn counts(array: &ArrayCounts, counted: Counted) -> &[u32] {
    match counted {
        Counted::Loads => &array.loads,
        Counted::Moves => &array.moves,
        Counted::Atomics => &array.atomics,
    }
}
