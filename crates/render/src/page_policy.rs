//! The permissions of a page in a browser, as the page states them.

use base64::prelude::{BASE64_STANDARD, Engine};
use sha2::{Digest, Sha256};

/// The content security policy of a page that loads nothing: its one style sheet and its one
/// script, if it has one, are named by their hashes, so what a name smuggles in neither runs nor
/// styles anything.
///
/// `style` and `script` are the texts between the tags, to the byte. Style attributes are refused
/// by it; a script may set properties of `element.style`.
///
/// Source: <https://www.w3.org/TR/CSP3/#match-element-to-source-list>
pub(crate) fn page_policy(style: &str, script: Option<&str>) -> String {
    let script = script.map_or(String::new(), |text| format!(" script-src {};", hash(text)));
    format!(
        "default-src 'none'; style-src {};{script} base-uri 'none'; form-action 'none'",
        hash(style)
    )
}

fn hash(text: &str) -> String {
    let digest = BASE64_STANDARD.encode(Sha256::digest(text));
    format!("'sha256-{digest}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    // The example of https://www.w3.org/TR/CSP2/#script-src-hash-usage
    #[test]
    fn a_hash_is_that_of_the_recommendation() {
        assert_eq!(
            hash("alert('Hello, world.');"),
            "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
        );
    }

    #[test]
    fn without_a_script_none_may_run() {
        let policy = page_policy("p{}", None);
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"));
        assert!(!policy.contains("script-src"));
        assert!(!policy.contains("unsafe"));
    }
}
