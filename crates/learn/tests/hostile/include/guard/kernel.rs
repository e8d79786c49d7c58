macro_rules! m { ($i:ident) => { $i!("@"); } }
m!(include);
