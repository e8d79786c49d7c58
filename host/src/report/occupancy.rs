//! The blocks that a multiprocessor holds at once, of a report's rows, for a drawing: of labs whose
//! subject they are. Pure.

use picture::{OccupancyChart, OccupancyRow};
use simt::Model;

use super::lab_report::LabReport;
use super::measures::limits;
use super::subject::Subject;
use super::variant_report::VariantReport;

/// The fact that a row has where its launch fixes the blocks.
const BLOCKS: &str = "blocks_on_a_multiprocessor";

/// The chart; `None` if the rows are not about it, or nothing of it is known.
pub(super) fn chart(report: &LabReport) -> Option<OccupancyChart> {
    let counted = report.subjects.contains(&Subject::Occupancy);
    let model = Model::named(report.device.simulates.unwrap_or("hopper")).filter(|_| !report.device.is_gpu());
    let row = |variant: &VariantReport| match counted {
        true => of_counts(variant),
        false => of_facts(variant, model?),
    };
    let mut rows: Vec<OccupancyRow> = Vec::new();
    for row in report.variants.iter().filter_map(row) {
        // What differs in other ways alone has the same blocks.
        if rows.iter().all(|other| other.name != row.name) {
            rows.push(row);
        }
    }
    (!rows.is_empty()).then_some(OccupancyChart { rows })
}

fn of_counts(variant: &VariantReport) -> Option<OccupancyRow> {
    let occupancy = variant.counters.as_ref()?.occupancy?;
    let (name, blocks, percent) = (variant.name.clone(), occupancy.blocks(), occupancy.percent());
    Some(OccupancyRow { name, blocks, percent, limit: limits(variant.counters.as_ref()?)? })
}

fn of_facts(variant: &VariantReport, model: &Model) -> Option<OccupancyRow> {
    let fact = |name| variant.fact(name)?.as_u64();
    let (blocks, block) = (fact(BLOCKS)?, fact("block")?);
    let percent = 100.0 * (blocks * block) as f64 / f64::from(model.limits.threads);
    let (name, blocks) = (format!("{block} threads"), u32::try_from(blocks).ok()?);
    Some(OccupancyRow { name, blocks, percent, limit: String::new() })
}
