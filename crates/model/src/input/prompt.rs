//! The prompt of a shell and the command after it, as people paste them above an output.

/// The signs that a prompt ends with.
const SIGNS: [char; 4] = ['$', '#', '%', '>'];

/// Returns true if `line` begins with the prompt of a shell: `$ date`, `[root@login1 ~]# date`,
/// `me@host:~> date`. A line that begins with `#` is a comment, not a prompt.
pub(super) fn is_prompt(line: &str) -> bool {
    let mut line = line.trim();
    // `(base) [me@host ~]$`: the environment before the prompt.
    while let Some((name, rest)) = line.strip_prefix('(').and_then(|it| it.split_once(')')) {
        if name.contains(['(', ' ']) {
            return false;
        }
        line = rest.trim_start();
    }
    if let Some((inside, rest)) = line.strip_prefix('[').and_then(|it| it.split_once(']')) {
        // `[settings]# comment` is a table of TOML.
        return inside.contains(['@', ' ']) && rest.starts_with(SIGNS);
    }
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    let place = |c: char| c.is_ascii_alphanumeric() || "@:~/._-".contains(c);
    match first.strip_suffix(SIGNS) {
        Some("") => !line.starts_with('#'),
        Some(name) => name.chars().all(place),
        // `root@host ~ # date`.
        None => {
            first.contains('@')
                && rest
                    .split(' ')
                    .take(3)
                    .any(|it| it.len() == 1 && it.starts_with(SIGNS))
        }
    }
}

/// The command that a line calls, from the name of `program` on, where a prompt is right before it:
/// `sshare -l` of `me@host:~$ /usr/bin/sshare -l`. `# sshare of last week` is a comment. The time is
/// linear in the length of the line.
pub(super) fn call<'t>(line: &'t str, program: &str) -> Option<&'t str> {
    // Nearly all lines are rows, which have no such sign.
    let bytes = line.as_bytes();
    memchr::memchr3(b'$', b'#', b'%', bytes).or(memchr::memchr(b'>', bytes))?;
    line.match_indices(program).find_map(|(at, _)| {
        let rest = &line[at + program.len()..];
        if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            return None;
        }
        // The name ends here: each word of the line is walked through once.
        let before = &line[..at];
        let path = before.rfind(|c: char| c.is_whitespace() || SIGNS.contains(&c));
        let word = path.map_or(0, |end| {
            end + before[end..].chars().next().map_or(0, char::len_utf8)
        });
        if !(before[word..].is_empty() || before.ends_with('/')) {
            return None;
        }
        let sign = before[..word].trim_end().chars().next_back()?;
        let arguments = rest.trim_start();
        let is_call = arguments.is_empty() || arguments.starts_with(['-', '|', '>', ';']);
        (SIGNS.contains(&sign) && (sign != '#' || is_call)).then_some(&line[at..])
    })
}

/// The words of the first command of a shell line; quotes are resolved, nothing else is.
pub(super) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '|' | ';' | '&' | '>' | '<') => break,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_known() {
        for line in [
            "$ date",
            "% date",
            "> date",
            "$",
            "[root@login1 ~]# sprio -l",
            "[me@login1 dir]$",
            "(base) [me@login1 ~]$ date",
            "root@login1:~# date",
            "login1# date",
            "me@host:/a/b> date",
            "bash-5.1$ date",
            "root@login1 ~ # date",
        ] {
            assert!(is_prompt(line), "{line}");
        }
        for line in [
            "",
            "# date",
            "[settings] # x",
            "[settings]# x",
            "[[jobs]]",
            "root 1 2",
            "a = 'b@c' # x",
            "JobID|User",
            "Cluster - 'c':Fairshare=1",
            "a|b$ c",
            "(a b) $ c",
        ] {
            assert!(!is_prompt(line), "{line}");
        }
    }

    #[test]
    fn calls_are_found_after_a_prompt() {
        for line in [
            "$ sshare -l",
            "[root@login1 ~]# sshare -l",
            "root@h:~#sshare -l",
            "# /usr/bin/sshare -l",
            "a > b % x/y/sshare -l",
            "sshare $ sshare -l",
        ] {
            assert_eq!(call(line, "sshare"), Some("sshare -l"), "{line}");
        }
        for line in [
            "sshare -l",
            "# sshare of last week",
            "$ sshares",
            "$ mysshare",
            "$ x sshare",
            "",
        ] {
            assert_eq!(call(line, "sshare"), None, "{line}");
        }
    }
}
