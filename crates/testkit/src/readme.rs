//! The fenced blocks of a Markdown file, so that what a README states can be compared with what the program says.

/// Contents of every block fenced as three backticks and `language`, in order.
pub fn blocks(markdown: &str, language: &str) -> Vec<String> {
    let open = format!("```{language}");
    let mut blocks = Vec::new();
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        if line.trim_end() == open {
            let block: Vec<&str> = lines.by_ref().take_while(|l| l.trim_end() != "```").collect();
            blocks.push(block.join("\n"));
        }
    }
    blocks
}

/// Every block fenced as `json`, parsed.
///
/// # Errors
/// When one of them is not JSON.
pub fn json_blocks(markdown: &str) -> serde_json::Result<Vec<serde_json::Value>> {
    blocks(markdown, "json").iter().map(|b| serde_json::from_str(b)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_blocks_of_one_language_only() {
        let text = "a\n```json\n{\"n\": 1}\n```\n```text\nx\n```\n```json\n2\n```\n";
        let found = json_blocks(text).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0]["n"], 1);
        assert_eq!(blocks(text, "text"), ["x"]);
    }

    #[test]
    fn broken_json_is_an_error() {
        assert!(json_blocks("```json\n{\n```\n").is_err());
    }
}
