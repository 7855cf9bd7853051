//! How a verb fails: a message that says what, where and why, a hint that says what to do, and exit code 2.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

/// An error on its way to the user.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nobody reads our output any more (`| head`): not an error.
    BrokenPipe,
    /// What went wrong, and perhaps what to do about it.
    Error {
        /// The error, with its sources.
        error: Box<dyn Error + Send + Sync>,
        /// What to do.
        hint: Option<String>,
    },
}

impl Failure {
    /// A failure that is no library's error: wrong use of flags.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        let message: String = message.into();
        Failure::Error { error: message.into(), hint: None }
    }

    /// Adds what to do about it.
    pub(crate) fn hint(self, text: impl Into<String>) -> Failure {
        match self {
            Failure::BrokenPipe => self,
            Failure::Error { error, .. } => Failure::Error { error, hint: Some(text.into()) },
        }
    }

    /// Prints the chain of causes and the hint to stderr.
    pub(crate) fn report(&self) -> ExitCode {
        let Failure::Error { error, hint } = self else { return ExitCode::SUCCESS };
        // Where nobody can be told, the exit code still tells.
        let say = |line: String| _ = writeln!(std::io::stderr().lock(), "{line}");
        say(format!("error: {}", visible(&error.to_string())));
        let mut last = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            if text != last {
                say(format!("  caused by: {}", visible(&text)));
            }
            last = text;
            source = cause.source();
        }
        if let Some(hint) = hint {
            say(format!("hint: {}", visible(hint)));
        }
        ExitCode::from(2)
    }
}

/// The text with its control characters written out, so that what a file holds cannot speak to the terminal.
pub(super) fn visible(text: &str) -> std::borrow::Cow<'_, str> {
    if let Some((cut, _)) = text.char_indices().nth(4000) {
        return format!("{}… (the rest is left out)", visible(&text[..cut])).into();
    }
    let speaks = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(speaks) {
        return text.into();
    }
    let shown = |c: char| if speaks(c) { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(shown).collect::<String>().into()
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::BrokenPipe => f.write_str("nobody reads the output"),
            Failure::Error { error, .. } => error.fmt(f),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Error { error: Box::new(error), hint: None }
    }
}
