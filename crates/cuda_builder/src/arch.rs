//! The architectures that kernels can be compiled for.

use std::fmt;
use std::str::FromStr;

use crate::CudaBuilderError;

macro_rules! architectures {
    ($($variant:ident $name:literal $documentation:literal,)*) => {
        /// The GPU architecture that PTX is made for: `Compute75` is compute capability 7.5,
        /// `sm_75`.
        ///
        /// PTX for one architecture runs on that one and every later one, unless the name ends in a
        /// letter: `a` runs on exactly that architecture, `f` on its family.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Deserialize, serde::Serialize)]
        #[non_exhaustive]
        pub enum NvvmArch {
            $(#[doc = $documentation] $variant,)*
        }

        impl NvvmArch {
            /// Every architecture, oldest first.
            pub const ALL: &'static [NvvmArch] = &[$(NvvmArch::$variant),*];

            /// The name that the compilers and PTX's `.target` use: `sm_75`.
            pub const fn target(self) -> &'static str {
                match self {
                    $(NvvmArch::$variant => $name,)*
                }
            }
        }
    };
}

architectures! {
    Compute50 "sm_50" "Maxwell.",
    Compute52 "sm_52" "Maxwell: GeForce GTX 9xx.",
    Compute53 "sm_53" "Maxwell: Jetson TX1.",
    Compute60 "sm_60" "Pascal: P100.",
    Compute61 "sm_61" "Pascal: GeForce GTX 10xx, P40.",
    Compute62 "sm_62" "Pascal: Jetson TX2.",
    Compute70 "sm_70" "Volta: V100.",
    Compute72 "sm_72" "Volta: Jetson Xavier.",
    Compute75 "sm_75" "Turing: GeForce RTX 20xx, T4.",
    Compute80 "sm_80" "Ampere: A100.",
    Compute86 "sm_86" "Ampere: GeForce RTX 30xx, A40.",
    Compute87 "sm_87" "Ampere: Jetson Orin.",
    Compute89 "sm_89" "Ada: GeForce RTX 40xx, L40.",
    Compute90 "sm_90" "Hopper: H100, H200.",
    Compute90a "sm_90a" "Hopper, with the instructions that only Hopper has.",
    Compute100 "sm_100" "Blackwell: B200.",
    Compute100a "sm_100a" "Blackwell B200, with the instructions that only it has.",
    Compute100f "sm_100f" "Blackwell B200 and its family.",
    Compute103 "sm_103" "Blackwell: B300.",
    Compute103a "sm_103a" "Blackwell B300, with the instructions that only it has.",
    Compute103f "sm_103f" "Blackwell B300 and its family.",
    Compute120 "sm_120" "Blackwell: GeForce RTX 50xx.",
    Compute120a "sm_120a" "Blackwell RTX 50xx, with the instructions that only it has.",
    Compute120f "sm_120f" "Blackwell RTX 50xx and its family.",
    Compute121 "sm_121" "Blackwell: GB10.",
    Compute121a "sm_121a" "Blackwell GB10, with the instructions that only it has.",
    Compute121f "sm_121f" "Blackwell GB10 and its family.",
}

impl Default for NvvmArch {
    /// `sm_75`, the oldest that the current CUDA toolkit and driver still support.
    fn default() -> Self {
        NvvmArch::Compute75
    }
}

impl fmt::Display for NvvmArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.target())
    }
}

impl FromStr for NvvmArch {
    type Err = CudaBuilderError;

    /// Parses `sm_75`, or `compute_75`, which means the same.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_"));
        NvvmArch::ALL
            .iter()
            .copied()
            .find(|arch| number.is_some() && arch.target().strip_prefix("sm_") == number)
            .ok_or_else(|| CudaBuilderError::UnknownArch { name: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for &arch in NvvmArch::ALL {
            assert_eq!(arch.target().parse::<NvvmArch>().unwrap(), arch);
        }
        assert_eq!("compute_90a".parse::<NvvmArch>().unwrap(), NvvmArch::Compute90a);
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        for name in ["sm_74", "75", "", "sm_", "SM_75"] {
            let error = name.parse::<NvvmArch>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("unknown architecture `{name}`: choose one of sm_50, sm_52, sm_53")),
                "{error}"
            );
        }
    }
}
