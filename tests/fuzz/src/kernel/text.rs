//! A kernel as PTX. `machine`, the tests and the example call it; [`crate::scalar`] starts
//! registers from the same numbers. Pure.

mod together;

use std::fmt::Write;

use super::*;

/// The header of a module.
pub const HEADER: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";

/// Parameters of a function, and of a call: name and type.
const PARAMETERS: [(&str, &str); 6] =
    [("word", "b32"), ("double", "b64"), ("input", "b64"), ("own", "b64"), ("common", "b64"), ("tile", "b32")];

/// The factor that makes the initial values of threads and registers differ.
pub const WORD_STEP: u32 = 0x9e37_79b9;
/// The same for doubles.
pub const DOUBLE_STEP: u64 = 0xd134_2543_de82_ef95;
/// The step between the first words of two threads.
pub const THREAD_STEP: u32 = 0x85eb_ca6b;

/// The name of a register.
fn register(bank: Bank, index: u8) -> String {
    let prefix = match bank {
        Bank::Predicate => 'p',
        Bank::Half => 'h',
        Bank::Word => 'r',
        Bank::Double => 'd',
    };
    format!("%{prefix}{index}")
}

fn word(index: u8) -> String {
    register(Bank::Word, index)
}

/// This many consecutive words from this one on, wrapping around, as a vector.
fn words((first, count): (u8, u8)) -> String {
    let names: Vec<_> = (0..count).map(|index| word((first + index) % Bank::Word.registers())).collect();
    format!("{{{}}}", names.join(", "))
}

fn at(guard: Option<Guard>) -> String {
    guard.map_or(String::new(), |Guard { predicate, wanted }| {
        format!("@{}%p{predicate} ", if wanted { "" } else { "!" })
    })
}

fn not(guard: Guard) -> Guard {
    Guard { wanted: !guard.wanted, ..guard }
}

struct Writer<'k> {
    name: &'k str,
    kernel: &'k Kernel,
    text: String,
    labels: u32,
    /// The labels to leave the enclosing loops, and for their next iterations.
    loops: Vec<[String; 2]>,
    in_function: bool,
}

impl Kernel {
    /// The kernel and its functions as PTX, without the module's header. A module can have several
    /// with different names.
    pub fn text(&self, name: &str) -> String {
        let mut writer =
            Writer { name, kernel: self, text: String::new(), labels: 0, loops: Vec::new(), in_function: true };
        for (index, body) in self.functions.iter().enumerate().rev() {
            writer.function(index, body);
        }
        writer.in_function = false;
        writer.entry();
        writer.text
    }
}

impl Writer<'_> {
    fn line(&mut self, text: impl AsRef<str>) {
        self.text.push('\t');
        self.text.push_str(text.as_ref());
        self.text.push('\n');
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn place_label(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label}:");
    }

    fn function(&mut self, index: usize, body: &[Statement]) {
        let name = self.name;
        let parameters: Vec<_> = PARAMETERS.iter().map(|(name, ty)| format!(".param .{ty} in_{name}")).collect();
        let _ =
            writeln!(self.text, ".func (.param .align 8 .b8 out[16]) {name}_f{index}({})\n{{", parameters.join(", "));
        self.registers();
        for (name, ty) in PARAMETERS {
            self.line(format!("ld.param.{ty} %{name}, [in_{name}];"));
        }
        self.start();
        self.list(body);
        self.leave_function();
        self.text.push_str("}\n");
    }

    fn leave_function(&mut self) {
        self.line("xor.b32 %tr0, %r0, %r7;");
        self.line("add.s64 %td0, %d0, %d1;");
        self.line("st.param.b32 [out], %tr0;");
        self.line("st.param.b64 [out+8], %td0;");
        self.line("ret;");
    }

    fn entry(&mut self) {
        let name = self.name;
        let (kernel, threads) = (self.kernel, self.kernel.block_threads());
        let _ = writeln!(
            self.text,
            ".visible .entry {name}(.param .u64 {name}_input, .param .u64 {name}_output, .param .u64 {name}_common)\n{{"
        );
        self.registers();
        self.line(format!(".shared .align 16 .b8 {name}_tiles[{}];", threads * TILE_BYTES));
        self.line(format!("ld.param.u64 %input, [{name}_input];"));
        self.line(format!("ld.param.u64 %own, [{name}_output];"));
        self.line(format!("ld.param.u64 %common, [{name}_common];"));
        for address in ["input", "own", "common"] {
            self.line(format!("cvta.to.global.u64 %{address}, %{address};"));
        }
        // The thread's number in its block and in the grid.
        self.line("mov.u32 %tr0, %tid.x;\n\tmov.u32 %tr1, %tid.y;\n\tmov.u32 %tr2, %tid.z;");
        self.line("mov.u32 %tr3, %ntid.y;\n\tmad.lo.u32 %tr1, %tr2, %tr3, %tr1;");
        self.line("mov.u32 %tr3, %ntid.x;\n\tmad.lo.u32 %thread, %tr1, %tr3, %tr0;");
        self.line("mov.u32 %tr0, %ctaid.x;\n\tmov.u32 %tr1, %ctaid.y;\n\tmov.u32 %tr2, %ctaid.z;");
        self.line("mov.u32 %tr3, %nctaid.y;\n\tmad.lo.u32 %tr1, %tr2, %tr3, %tr1;");
        self.line("mov.u32 %tr3, %nctaid.x;\n\tmad.lo.u32 %tr0, %tr1, %tr3, %tr0;");
        self.line(format!("mad.lo.u32 %self, %tr0, {threads}, %thread;"));
        self.line(format!("mad.wide.u32 %own, %self, {RECORD_BYTES}, %own;"));
        self.line(format!("mov.u32 %tile, {name}_tiles;\n\tmad.lo.u32 %tile, %thread, {TILE_BYTES}, %tile;"));
        // The lanes that exist in the warp.
        self.line(format!("and.b32 %tr0, %thread, -32;\n\tsub.u32 %tr0, {threads}, %tr0;\n\tmin.u32 %tr0, %tr0, 32;"));
        self.line("shl.b32 %members, 1, %tr0;\n\tsub.u32 %members, %members, 1;");
        // The first word and double.
        self.line(format!("and.b32 %tr0, %self, {};\n\tmul.wide.u32 %td0, %tr0, 8;", INPUT_BYTES / 8 - 1));
        self.line("add.s64 %td0, %td0, %input;\n\tld.global.b64 %double, [%td0];\n\tld.global.b32 %word, [%td0];");
        self.line(format!("mad.lo.u32 %word, %self, {THREAD_STEP}, %word;"));
        self.start();
        self.line("st.shared.b64 [%tile], %d0;\n\tst.shared.b64 [%tile+8], %d1;");
        self.list(&kernel.body);
        for index in 0..Bank::Double.registers() {
            self.line(format!("st.global.b64 [%own+{}], %d{index};", OWN_BYTES + 8 * u32::from(index)));
        }
        for index in 0..Bank::Word.registers() {
            self.line(format!("st.global.b32 [%own+{}], %r{index};", OWN_BYTES + 48 + 4 * u32::from(index)));
        }
        self.line("mov.b32 %tr0, 0;");
        for index in 0..Bank::Half.registers() {
            self.line(format!("st.global.b16 [%own+{}], %h{index};", OWN_BYTES + 80 + 2 * u32::from(index)));
            self.line(format!("@%p{index} or.b32 %tr0, %tr0, {};", 1 << index));
        }
        self.line(format!("st.global.b32 [%own+{}], %tr0;", OWN_BYTES + 88));
        self.line("ret;");
        self.text.push_str("}\n");
    }

    fn registers(&mut self) {
        self.line(".reg .pred %p<4>, %tp<2>;\n\t.reg .b16 %h<4>, %th<2>;\n\t.reg .b32 %r<8>, %tr<4>, %n<80>;");
        self.line(".reg .b32 %word, %tile, %thread, %self, %members;\n\t.reg .b64 %d<6>, %td<4>;");
        self.line(".reg .b64 %double, %input, %own, %common, %local;");
        self.line(format!(".local .align 16 .b8 scratch[{LOCAL_BYTES}];\n\tmov.u64 %local, scratch;"));
    }

    /// The registers' initial values, derived from one word and one double.
    fn start(&mut self) {
        for index in 0..Bank::Word.registers() {
            self.line(format!("add.u32 %r{index}, %word, {};", WORD_STEP.wrapping_mul(index.into())));
        }
        for index in 0..Bank::Double.registers() {
            self.line(format!("xor.b64 %d{index}, %double, {};", DOUBLE_STEP.wrapping_mul(index.into())));
        }
        for index in 0..Bank::Half.registers() {
            self.line(format!("cvt.u16.u32 %h{index}, %r{index};\n\tsetp.lt.s32 %p{index}, %r{index}, 0;"));
        }
        for index in 0..LOCAL_BYTES / 8 {
            self.line(format!("st.local.b64 [%local+{}], %d{index};", 8 * index));
        }
    }

    fn list(&mut self, list: &[Statement]) {
        for statement in list {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Operate { operation, result, operands, guard } => {
                let mut text = operation.text.replace("$d", &register(operation.result, *result));
                for ((name, &bank), &index) in ["$a", "$b", "$c", "$e"].iter().zip(operation.operands).zip(operands) {
                    text = text.replace(name, &register(bank, index));
                }
                for instruction in text.split_inclusive(';') {
                    self.line(format!("{}{}", at(*guard), instruction.trim_start()));
                }
            }
            Statement::Constant { bank, result, value } => {
                let value = value & u64::MAX >> (64 - bank.bits());
                self.line(format!("mov.b{} {}, {value:#x};", bank.bits(), register(*bank, *result)));
            }
            Statement::Load(access) => self.access(access, true),
            Statement::Store(access) => self.access(access, false),
            Statement::Atomic { atomic, region, index, values, result, guard } => {
                self.address(*region, *index, atomic.bank().bits() / 8, false);
                let second = match atomic.name {
                    "cas" => format!(", {}", register(atomic.bank(), values[1])),
                    _ => String::new(),
                };
                let (name, ty, space) = (atomic.name, atomic.ty, space(*region));
                let [result, value] = [*result, values[0]].map(|index| register(atomic.bank(), index));
                self.line(format!("{}atom{space}.{name}.{ty} {result}, [%td0], {value}{second};", at(*guard)));
            }
            Statement::Reduce { reduction, index, value, guard } => {
                let atomic = REDUCTIONS[usize::from(*reduction)];
                self.line(format!("and.b32 %tr0, {}, 3;", word(*index)));
                self.line("mad.wide.u32 %td0, %tr0, 8, %common;");
                let (offset, value) = (32 * u32::from(*reduction), register(atomic.bank(), *value));
                self.line(format!("{}red.global.{}.{} [%td0+{offset}], {value};", at(*guard), atomic.name, atomic.ty));
            }
            Statement::If { condition, then, otherwise } => self.branch(*condition, then, otherwise),
            Statement::Loop { id, count, most, test_at_end, body } => {
                self.turns(*id, *count, *most, *test_at_end, body)
            }
            Statement::Break(guard) => self.jump_out(*guard, 0),
            Statement::Continue(guard) => self.jump_out(*guard, 1),
            Statement::Switch { index, arms } => self.switch(*index, arms),
            Statement::Call { functions, choice, word, double } => self.call(*functions, *choice, *word, *double),
            Statement::Leave(guard) if self.in_function => {
                let stay = self.label();
                self.line(format!("{}bra {stay};", at(Some(not(*guard)))));
                self.leave_function();
                self.place_label(&stay);
            }
            Statement::Leave(guard) => self.line(format!("{}exit;", at(Some(*guard)))),
            Statement::Together(together) => self.together(together),
            Statement::Wild { region, store, far, offset, register, guard } => {
                let (mask, least) = if *far { (0xf_ffff, 0x8_0000) } else { (0x3f, 0) };
                self.line(format!("and.b32 %tr0, {}, {mask};\n\tor.b32 %tr0, %tr0, {least};", word(*offset)));
                self.base(*region);
                self.line("cvt.u64.u32 %td1, %tr0;\n\tadd.s64 %td0, %td0, %td1;");
                let (at, space, register) = (at(*guard), space(*region), word(*register));
                match store {
                    true => self.line(format!("{at}st{space}.b32 [%td0], {register};")),
                    false => self.line(format!("{at}ld{space}.b32 {register}, [%td0];")),
                }
            }
        }
    }

    /// The address of a region, to `%td0`.
    fn base(&mut self, region: Region) {
        self.line(match region {
            Region::Input => "mov.u64 %td0, %input;",
            Region::Own => "mov.u64 %td0, %own;",
            Region::Local => "mov.u64 %td0, %local;",
            Region::Tile => "cvt.u64.u32 %td0, %tile;",
        });
    }

    /// The address within (the lower half of) a region that a word names, aligned for `bytes`
    /// bytes, to `%td0`.
    fn address(&mut self, region: Region, index: u8, bytes: u32, half: bool) {
        let room = if half { region.bytes() / 2 } else { region.bytes() };
        self.line(format!("and.b32 %tr0, {}, {};", word(index), room - bytes));
        self.base(region);
        self.line("cvt.u64.u32 %td1, %tr0;\n\tadd.s64 %td0, %td0, %td1;");
    }

    fn access(&mut self, access: &Access, load: bool) {
        let Access { region, element, vector, register: first, index, upper, generic, guard } = access;
        self.address(*region, *index, element.bytes * vector, true);
        let space = match (generic, region) {
            (false, region) => space(*region),
            (true, region) => {
                self.line(format!("cvta{}.u64 %td0, %td0;", space(*region)));
                ""
            }
        };
        let registers: Vec<_> = (0..*vector as u8)
            .map(|index| register(element.bank, (first + index) % element.bank.registers()))
            .collect();
        let (vector, registers) = match vector {
            1 => (String::new(), registers[0].clone()),
            count => (format!(".v{count}"), format!("{{{}}}", registers.join(", "))),
        };
        let offset = if *upper { region.bytes() / 2 } else { 0 };
        let (guard, ty) = (at(*guard), element.name);
        match load {
            true => self.line(format!("{guard}ld{space}{vector}.{ty} {registers}, [%td0+{offset}];")),
            // A store does not extend a sign.
            false => {
                self.line(format!("{guard}st{space}{vector}.{} [%td0+{offset}], {registers};", ty.replace('s', "u")))
            }
        }
    }

    fn branch(&mut self, condition: Condition, then: &[Statement], otherwise: &[Statement]) {
        let [else_label, end] = [self.label(), self.label()];
        match condition {
            Condition::One(guard) => self.line(format!("{}bra {else_label};", at(Some(not(guard))))),
            Condition::Both(first, second) => {
                self.line(format!("{}bra {else_label};", at(Some(not(first)))));
                self.line(format!("{}bra {else_label};", at(Some(not(second)))));
            }
            Condition::Either(first, second) => {
                let then_label = self.label();
                self.line(format!("{}bra {then_label};", at(Some(first))));
                self.line(format!("{}bra {else_label};", at(Some(not(second)))));
                self.place_label(&then_label);
            }
        }
        self.list(then);
        if !otherwise.is_empty() {
            self.line(format!("bra {end};"));
        }
        self.place_label(&else_label);
        self.list(otherwise);
        self.place_label(&end);
    }

    fn turns(&mut self, id: u8, count: u8, most: u32, test_at_end: bool, body: &[Statement]) {
        let [top, next, end] = [self.label(), self.label(), self.label()];
        self.line(format!("and.b32 %n{id}, {}, {most};", word(count)));
        self.loops.push([end.clone(), next.clone()]);
        let test = format!("setp.eq.u32 %tp0, %n{id}, 0;\n\t@%tp0 bra {end};\n\tsub.u32 %n{id}, %n{id}, 1;");
        if test_at_end {
            self.place_label(&top);
            self.list(body);
            self.place_label(&next);
            self.line(test);
            self.line(format!("bra {top};"));
        } else {
            self.place_label(&next);
            self.line(test);
            self.list(body);
            self.line(format!("bra {next};"));
        }
        self.loops.pop();
        self.place_label(&end);
    }

    fn jump_out(&mut self, guard: Guard, which: usize) {
        if let Some(labels) = self.loops.last() {
            let line = format!("{}bra {};", at(Some(guard)), labels[which]);
            self.line(line);
        }
    }

    fn switch(&mut self, index: u8, arms: &[Vec<Statement>]) {
        let labels: Vec<_> = arms.iter().map(|_| self.label()).collect();
        let [table, end] = [self.label(), self.label()];
        self.line(format!("rem.u32 %tr0, {}, {};", word(index), arms.len()));
        self.line(format!("{table}: .branchtargets {};", labels.join(", ")));
        self.line(format!("brx.idx %tr0, {table};"));
        for (label, arm) in labels.iter().zip(arms) {
            self.place_label(label);
            self.list(arm);
            self.line(format!("bra {end};"));
        }
        self.place_label(&end);
    }

    fn call(&mut self, functions: [u8; 2], choice: Option<Guard>, word: u8, double: u8) {
        let name = self.name;
        let prototype = self.label();
        self.line("{");
        for (parameter, ty) in PARAMETERS {
            self.line(format!(".param .{ty} to_{parameter};"));
            let value = match parameter {
                "word" => format!("%r{word}"),
                "double" => format!("%d{double}"),
                other => format!("%{other}"),
            };
            self.line(format!("st.param.{ty} [to_{parameter}], {value};"));
        }
        self.line(".param .align 8 .b8 from[16];");
        let given = PARAMETERS.map(|(name, _)| format!("to_{name}")).join(", ");
        match choice {
            None => self.line(format!("call (from), {name}_f{}, ({given});", functions[0])),
            Some(guard) => {
                let types = PARAMETERS.map(|(_, ty)| format!(".param .{ty} _")).join(", ");
                self.line(format!("mov.u64 %td0, {name}_f{};", functions[1]));
                self.line(format!("{}mov.u64 %td0, {name}_f{};", at(Some(guard)), functions[0]));
                self.line(format!("{prototype}: .callprototype (.param .align 8 .b8 _[16]) _ ({types});"));
                self.line(format!("call (from), %td0, ({given}), {prototype};"));
            }
        }
        self.line(format!("ld.param.b32 %r{word}, [from];"));
        self.line(format!("ld.param.b64 %d{double}, [from+8];"));
        self.line("}");
    }
}

fn space(region: Region) -> &'static str {
    match region {
        Region::Input | Region::Own => ".global",
        Region::Local => ".local",
        Region::Tile => ".shared",
    }
}
