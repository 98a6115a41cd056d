//! The words of a command of sacctmgr.

/// Keys of accounts, users, QOS and clusters. Those that no scheduler looks at are passed over. Source:
/// sacctmgr(1) of 22.05.
const KEYS: &str = "\
    account accounts admin adminlevel classification cluster clusters comment defaultaccount \
    defaultacct defaultqos defaultwckey description fairshare federation flags gracetime \
    grpcpumins grpcpurunmins grpcpus grpjobs grpjobsaccrue grpmem grpnodes grpsubmit \
    grpsubmitjobs grptres grptresmin grptresmins grptresrunmin grptresrunmins grpwall id \
    limitfactor maxcpumins maxcpuminsperjob maxcpurunmins maxcpus maxcpusperjob maxcpusperuser \
    maxcpuspu maxjobs maxjobsaccrue maxjobsaccruepa maxjobsaccrueperaccount \
    maxjobsaccrueperuser maxjobsaccruepu maxjobspa maxjobsperaccount maxjobsperuser maxjobspu \
    maxnodes maxnodesperjob maxnodesperuser maxnodespu maxsubmit maxsubmitjobs \
    maxsubmitjobsperaccount maxsubmitjobsperuser maxsubmitpa maxsubmitpu maxtres maxtresmins \
    maxtresminsperjob maxtrespa maxtresperaccount maxtresperjob maxtrespernode maxtresperuser \
    maxtrespj maxtrespn maxtrespu maxtresrunmins maxtresrunminspa maxtresrunminsperaccount \
    maxtresrunminsperuser maxtresrunminspu maxwall maxwalldurationperjob maxwallpj minprio \
    minpriothresh minpriothreshold mintres mintresperjob mintrespj name names organization \
    parent partition partitions preempt preemptexempttime preemptmode priority qos rawusage \
    shares usagefactor usagethreshold user users wckeys";

fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.split_whitespace()
}

/// The key that a word names: itself, or the shortest that it begins, as sacctmgr takes shortened words.
pub(super) fn full_key(word: &str) -> Option<&'static str> {
    let begun = keys().filter(|key| key.starts_with(word));
    let begun = begun.filter(|_| word.len() >= 3 || keys().any(|key| key == word));
    begun.min_by_key(|key| key.len())
}

/// The words of a line up to a comment; quotes hold a word together.
pub(super) fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for letter in line.chars() {
        match (letter, quote) {
            (letter, Some(open)) if letter == open => quote = None,
            (letter, Some(_)) => words.last_mut().expect("never empty").push(letter),
            ('#', None) => break,
            ('"' | '\'', None) => quote = Some(letter),
            (letter, None) if letter.is_whitespace() => words.push(String::new()),
            (letter, None) => words.last_mut().expect("never empty").push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// `key=value` of a command; a word without `=` has the key `name`. `key+=value` adds.
pub(super) struct Pairs<'w>(pub Vec<(&'static str, &'w str)>);

impl<'w> Pairs<'w> {
    /// The values of a key, separated by commas.
    pub(super) fn list(&self, keys: &[&str]) -> Vec<&'w str> {
        let own = self.0.iter().filter(|(key, _)| keys.contains(key));
        own.flat_map(|(_, value)| value.split(','))
            .filter(|name| !name.is_empty())
            .collect()
    }
}
