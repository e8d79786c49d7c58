//! Writes results for the caller.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::CudaBuilderError;

/// Writes a file whole or not at all: to a temporary file beside it, which is then renamed. A
/// symbolic link stays, and the file that it points to is replaced.
///
/// # Errors
///
/// [`CudaBuilderError::Io`] if the folder cannot be made or the file cannot be written.
pub fn write_whole(path: &Path, text: &str) -> Result<(), CudaBuilderError> {
    let followed = match path.is_symlink() {
        true => fs::canonicalize(path).map_err(CudaBuilderError::io("follow the link", path))?,
        false => path.to_owned(),
    };
    let path = followed.as_path();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(CudaBuilderError::io("create", folder))?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(CudaBuilderError::io("write in", folder))?;
    file.write_all(text.as_bytes()).map_err(CudaBuilderError::io("write", path))?;
    #[cfg(unix)]
    {
        // Temporary files are private; give this one the usual permissions.
        use std::os::unix::fs::PermissionsExt as _;
        let readable = fs::Permissions::from_mode(0o644);
        file.as_file().set_permissions(readable).map_err(CudaBuilderError::io("write", path))?;
    }
    file.persist(path).map_err(|error| CudaBuilderError::Io {
        path: path.to_owned(),
        action: "write",
        source: error.error,
    })?;
    Ok(())
}
