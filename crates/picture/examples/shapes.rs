//! Draws the course's shapes: as text, or as SVG files into the folder that is named.

use std::path::PathBuf;

use picture::{Paint, access_svg, access_text, file, shapes};

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    for shape in shapes() {
        match &folder {
            Some(folder) => {
                std::fs::write(folder.join(shape.name).with_extension("svg"), file(&access_svg(&shape.scene())))?
            }
            None => println!("{}\n{}", shape.title, access_text(&shape.scene(), 100, Paint::Colours)),
        }
    }
    Ok(())
}
