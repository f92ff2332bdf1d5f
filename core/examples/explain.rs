//! Explains one puzzling agent output: what the gates make of it, and why.
//!
//! `cargo run -p turnlatch --example explain -- --runner runner.json --schema output.schema.json --mode interactive turn.txt`

#![expect(clippy::disallowed_methods, reason = "an example is a host: it reads files and its environment")]

use std::error::Error;
use std::io::{self, IsTerminal, Read, Write};

use serde_json::{Value, json};
use turnlatch::admission::SchemaTexts;
use turnlatch::inspect::evaluate_turn;
use turnlatch::text::display_text;
use turnlatch::types::{CheckResult, Evaluation, Note, Verdict};
use turnlatch::{AdmissionError, Code, Event, HostSettings, Plan, RunRequest, Skill, TurnReport, admit};

const USAGE: &str = "\
usage: explain [options] TURN

  TURN               a file with the assistant's text, or - for standard input
  --stream FORMAT    TURN is an agent's stdout in this format, such as codex-jsonl or claude-stream-json
  --stderr FILE      what the agent's process wrote to stderr; with --stream
  --runner FILE      the skill's runner.json           (default: a skill that allows both modes)
  --schema FILE      the skill's output schema         (default: none)
  --mode MODE        auto or interactive               (default: interactive)
  --engine NAME      the engine                        (default: the first the skill declares, else codex)
  --attempt N        the number of the turn            (default: 1)
  --exit-code N      the process's exit code           (default: 0)
  --json             print the judgement as JSON";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}\n\n{USAGE}");
            std::process::exit(2);
        }
    };
    let plan = match arguments.plan()? {
        Ok(plan) => plan,
        Err(refusal) => {
            report_refusal(&refusal, arguments.json)?;
            std::process::exit(1);
        }
    };
    let turn = arguments.report()?;
    let judged = evaluate_turn(&plan, &turn);
    let mut out = io::stdout().lock();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&judged.explain())?)?;
        return Ok(());
    }
    let colour = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    Report { out: &mut out, colour }.print(&plan, &judged)?;
    Ok(())
}

#[derive(Default)]
struct Arguments {
    runner: Option<String>,
    schema: Option<String>,
    mode: Option<String>,
    engine: Option<String>,
    attempt: u32,
    exit_code: i64,
    json: bool,
    stream: Option<String>,
    stderr: Option<String>,
    turn: String,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut arguments = Arguments { attempt: 1, ..Arguments::default() };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--runner" => arguments.runner = Some(value()?),
                "--schema" => arguments.schema = Some(value()?),
                "--mode" => arguments.mode = Some(value()?),
                "--engine" => arguments.engine = Some(value()?),
                "--attempt" => arguments.attempt = value()?.parse().map_err(|_| "--attempt needs a number")?,
                "--exit-code" => arguments.exit_code = value()?.parse().map_err(|_| "--exit-code needs a number")?,
                "--json" => arguments.json = true,
                "--stream" => arguments.stream = Some(value()?),
                "--stderr" => arguments.stderr = Some(value()?),
                "--help" | "-h" => return Err("explains one agent output".to_owned()),
                option if option.starts_with("--") => return Err(format!("unknown option {option}")),
                turn if arguments.turn.is_empty() => turn.clone_into(&mut arguments.turn),
                other => return Err(format!("one turn at a time, found also {other}")),
            }
        }
        if arguments.stderr.is_some() && arguments.stream.is_none() {
            return Err("--stderr needs --stream".to_owned());
        }
        if arguments.turn.is_empty() { Err("which turn?".to_owned()) } else { Ok(arguments) }
    }

    fn plan(&self) -> Result<Result<std::sync::Arc<Plan>, AdmissionError>, Box<dyn Error>> {
        let runner = match &self.runner {
            Some(path) => read_file(path)?,
            None => r#"{"execution_modes": ["auto", "interactive"]}"#.to_owned(),
        };
        let declared = serde_json::from_str::<Value>(&runner).unwrap_or_default();
        let names = |field: &str| -> Vec<String> {
            declared
                .get(field)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        };
        let engines = names("engines");
        let excluded = names("unsupported_engines");
        let first = engines.iter().find(|name| !excluded.contains(name)).cloned();
        let engine = self.engine.clone().or(first).unwrap_or_else(|| "codex".to_owned());
        let known = engines.into_iter().chain(excluded).chain([engine.clone()]).collect();
        let mode = self.mode.as_deref().unwrap_or("interactive");
        let host = HostSettings { engines: known, ..HostSettings::default() };
        let output_schema = self.schema.as_deref().map(read_file).transpose()?;
        let texts = SchemaTexts { output_schema, ..SchemaTexts::default() };
        let skill = Skill::from_json(&runner, &host.limits).schema_texts(texts);
        let request = json!({"run_id": "explain", "engine": engine, "execution_mode": mode}).to_string();
        Ok(admit(&skill, &RunRequest::from_json(&request), &host))
    }

    fn report(&self) -> Result<TurnReport, Box<dyn Error>> {
        let (attempt_number, exit_code, text) = (self.attempt, self.exit_code, self.turn_text()?);
        let Some(format) = &self.stream else {
            let (exit_code, text) = (Some(exit_code), Some(text));
            return Ok(TurnReport { attempt_number, exit_code, text, ..TurnReport::default() });
        };
        let stderr = self.stderr.as_deref().map(read_file).transpose()?.unwrap_or_default();
        let stream = json!({"format": format, "stdout": text, "stderr": stderr, "exit_code": exit_code});
        let event = json!({"type": "turn_finished", "attempt_number": attempt_number, "stream": stream});
        match Event::from_json(&event.to_string()).map_err(|rejected| rejected.message)? {
            Event::TurnFinished(report) => Ok(report),
            other => Err(format!("a finished turn was read as {other:?}").into()),
        }
    }

    fn turn_text(&self) -> Result<String, Box<dyn Error>> {
        if self.turn != "-" {
            return read_file(&self.turn);
        }
        let mut text = String::new();
        io::stdin().read_to_string(&mut text)?;
        Ok(text)
    }
}

fn read_file(path: &str) -> Result<String, Box<dyn Error>> {
    std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}").into())
}

fn report_refusal(refusal: &AdmissionError, as_json: bool) -> Result<(), Box<dyn Error>> {
    if as_json {
        println!("{}", serde_json::to_string_pretty(&json!({ "refused": refusal }))?);
        return Ok(());
    }
    println!("refused at admission: no run would be made");
    for problem in &refusal.problems {
        println!("  {}  {}\n      {}", problem.code, problem.path, problem.message);
        println!("      {}", problem.code.info().remedy);
    }
    Ok(())
}

struct Report<'o, W: Write> {
    out: &'o mut W,
    colour: bool,
}

impl<W: Write> Report<'_, W> {
    fn print(&mut self, plan: &Plan, judged: &Evaluation) -> io::Result<()> {
        let decision = &judged.decision;
        let (word, colour) = match decision.outcome {
            Verdict::Succeeded => ("succeeded", GREEN),
            Verdict::Failed => ("failed", RED),
            Verdict::WaitingUser => ("waiting_user", YELLOW),
        };
        let headline = self.paint(colour, word);
        let code = decision.code().map(|code| format!("  {code}")).unwrap_or_default();
        writeln!(self.out, "{headline}  by {}{code}", decision.rule)?;
        writeln!(self.out, "  {}", decision.message())?;

        let evidence = &decision.evidence;
        self.heading("evidence")?;
        writeln!(self.out, "  done marker  {}", word_of(&evidence.marker))?;
        let source = evidence.source.map(|source| format!(", found in: {}", word_of(&source))).unwrap_or_default();
        writeln!(self.out, "  output       {}{source}", word_of(&evidence.output))?;
        for violation in &evidence.violations {
            let place = if violation.instance_path.is_empty() { "/" } else { &violation.instance_path };
            writeln!(
                self.out,
                "               {}  {}  ({})",
                display_text(place),
                violation.message,
                violation.schema_path
            )?;
        }
        writeln!(self.out, "  asks         {}", if evidence.asks { "yes" } else { "no" })?;

        self.heading("gates, in order")?;
        for check in &decision.checks {
            let (sign, colour) = match check.result {
                CheckResult::Passed => ("next   ", GREY),
                CheckResult::Decided => ("decides", BOLD),
            };
            let line = self.paint(colour, &format!("{sign}  {:7}  {}", check.gate, check.reason));
            writeln!(self.out, "  {line}")?;
        }

        let warnings = decision.warnings();
        let notes: Vec<&Note> = plan.warnings.iter().chain(&warnings).chain(&decision.diagnostics).collect();
        if !notes.is_empty() {
            self.heading("worth knowing")?;
        }
        for note in notes {
            let code = self.paint(YELLOW, note.code.as_str());
            writeln!(self.out, "  {code}  {}\n      {}", note.message, note.code.info().remedy)?;
        }
        if let Some(code) = decision.code().and_then(Code::from_text) {
            self.heading("what to do")?;
            writeln!(self.out, "  {}", code.info().remedy)?;
        }
        if let Some(question) = &judged.question {
            self.heading("the user would be asked")?;
            for line in display_text(&question.prompt).lines() {
                writeln!(self.out, "  | {line}")?;
            }
            for option in &question.options {
                writeln!(self.out, "  - {}", display_text(&option.label))?;
            }
        }
        if let Some(data) = &judged.data_text {
            self.heading("result")?;
            writeln!(self.out, "  {}", display_text(data))?;
        }
        Ok(())
    }

    fn heading(&mut self, text: &str) -> io::Result<()> {
        let text = self.paint(BOLD, text);
        writeln!(self.out, "\n{text}")
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// A value's name on the wire, as words.
fn word_of(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(|word| word.replace('_', " ")))
        .unwrap_or_default()
}

const BOLD: &str = "1";
const GREY: &str = "90";
const RED: &str = "1;31";
const GREEN: &str = "1;32";
const YELLOW: &str = "1;33";
