//! The Markdown of the repository: every link leads somewhere, on the page and in the built guide, and
//! every Rust block of the guide is compiled.
//!
//! Addresses outside the repository are not asked. `ci/links.sh` lists them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// What is asked of a page.
#[derive(Default)]
struct Page {
    /// Where its links and images lead, as written.
    links: Vec<String>,
    /// The names of its headings, as sites make them.
    anchors: BTreeSet<String>,
    /// What stands after the fence of each code block.
    fences: Vec<String>,
}

impl Page {
    fn read(path: &Path) -> Page {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut page = Page::default();
        let mut heading: Option<String> = None;
        for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.into_string());
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                    page.fences.push(info.into_string());
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::Text(text) | Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&text);
                    }
                }
                Event::End(TagEnd::Heading(_)) => {
                    page.name(&heading.take().unwrap_or_default());
                }
                _ => {}
            }
        }
        page
    }

    /// Takes up the anchor of a heading; one that is there already gets a number.
    fn name(&mut self, heading: &str) {
        let anchor: String = heading
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let numbered = (1..).map(|n| format!("{anchor}-{n}"));
        let free = std::iter::once(anchor.clone())
            .chain(numbered)
            .find(|name| !self.anchors.contains(name));
        self.anchors.extend(free);
    }
}

fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("a workspace").to_owned()
}

/// Every Markdown file, by its path from the root.
fn pages() -> BTreeMap<PathBuf, Page> {
    let root = root();
    let mut pages = BTreeMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let hidden = name.starts_with('.') && name != ".github";
            if path.is_dir() && !hidden && name != "target" {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let short = path.strip_prefix(&root).expect("below the root").to_owned();
                pages.insert(short, Page::read(&path));
            }
        }
    }
    assert!(pages.contains_key(Path::new("README.md")));
    pages
}

/// The chapters that the guide is made of, by their path from the root.
fn chapters() -> BTreeSet<PathBuf> {
    let summary = Page::read(&root().join("docs/SUMMARY.md"));
    let docs = Path::new("docs");
    summary.links.iter().map(|link| docs.join(link)).collect()
}

fn is_outside(link: &str) -> bool {
    link.contains("://") || link.starts_with("mailto:")
}

/// `path` without `.` and `..`.
fn resolve(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                resolved.pop();
            }
            Component::CurDir => {}
            other => resolved.push(other),
        }
    }
    resolved
}

/// Why `link`, on the page at `from`, leads nowhere.
fn fault(pages: &BTreeMap<PathBuf, Page>, from: &Path, link: &str) -> Option<String> {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let to = match path {
        "" => from.to_owned(),
        path => resolve(&from.parent().unwrap_or(Path::new("")).join(path)),
    };
    if !root().join(&to).exists() {
        return Some(format!("{} is not there", to.display()));
    }
    if !anchor.is_empty() && !pages.get(&to).is_some_and(|to| to.anchors.contains(anchor)) {
        return Some(format!("{} has no heading #{anchor}", to.display()));
    }
    None
}

#[test]
fn links_lead_somewhere() {
    let pages = pages();
    let mut faults = Vec::new();
    let mut outside = BTreeSet::new();
    for (from, page) in &pages {
        for link in &page.links {
            if is_outside(link) {
                outside.insert(link);
            } else if let Some(fault) = fault(&pages, from, link) {
                faults.push(format!("{}: {link}: {fault}", from.display()));
            }
        }
    }
    for link in outside {
        println!("{link}");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What is a path in the repository is none in the built guide, unless it is a chapter or lies beside one.
#[test]
fn links_of_the_guide_lead_to_its_chapters() {
    let pages = pages();
    let chapters = chapters();
    let docs = Path::new("docs");
    let mut faults = Vec::new();
    for from in &chapters {
        for link in pages[from].links.iter().filter(|link| !is_outside(link)) {
            let path = link.split('#').next().unwrap_or_default();
            let to = resolve(&docs.join(path));
            let is_page = to.extension().is_some_and(|extension| extension == "md");
            let there = match is_page {
                true => chapters.contains(&to),
                false => path.is_empty() || to.starts_with(docs),
            };
            if !there {
                faults.push(format!("{}: {link}: not in the guide", from.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Every page in `docs/` is in the table of contents, and two clicks from the README lead to it.
#[test]
fn every_page_of_the_guide_is_found() {
    let pages = pages();
    let follow = |from: &Path| -> BTreeSet<PathBuf> {
        let folder = from.parent().unwrap_or(Path::new(""));
        let links = pages.get(from).map_or(&[][..], |page| &page.links);
        links
            .iter()
            .filter(|link| !is_outside(link))
            .map(|link| resolve(&folder.join(link.split('#').next().unwrap_or_default())))
            .collect()
    };
    let one = follow(Path::new("README.md"));
    let mut reached: BTreeSet<_> = one.iter().flat_map(|page| follow(page)).collect();
    reached.extend(one);
    let chapters = chapters();
    for page in pages.keys().filter(|page| page.starts_with("docs")) {
        let page_is = page.display();
        assert!(
            reached.contains(page),
            "{page_is}: not two clicks from README"
        );
        assert!(
            chapters.contains(page) || page.ends_with("SUMMARY.md"),
            "{page_is}: not in docs/SUMMARY.md"
        );
    }
}

/// A chapter may be another file of the repository, which is then read at another place.
#[test]
fn included_chapters_have_no_relative_links() {
    for chapter in chapters() {
        let text = fs::read_to_string(root().join(&chapter)).expect("a chapter");
        let included = text
            .trim()
            .strip_prefix("{{#include ")
            .and_then(|rest| rest.strip_suffix("}}"));
        let Some(included) = included else { continue };
        let page = Page::read(&root().join("docs").join(included));
        for link in page.links {
            assert!(
                is_outside(&link) || link.starts_with('#'),
                "{included}: {link} leads nowhere in the guide, which has this page as {}",
                chapter.display()
            );
        }
    }
}

#[test]
fn every_rust_block_of_the_guide_is_compiled() {
    let pages = pages();
    let compiled = fs::read_to_string(root().join("examples/src/guide.rs")).expect("guide.rs");
    for chapter in chapters().iter().chain([&PathBuf::from("README.md")]) {
        let (rust, rest): (Vec<_>, Vec<_>) = pages[chapter]
            .fences
            .iter()
            .partition(|fence| fence.starts_with("rust"));
        let chapter = chapter.display();
        assert!(
            rust.is_empty() || compiled.contains(&format!("../../{chapter}\"")),
            "{chapter} has Rust code and is not in examples/src/guide.rs"
        );
        for fence in rust {
            assert!(
                !fence.contains("ignore"),
                "{chapter} has code that is not compiled: ```{fence}"
            );
        }
        for fence in rest {
            assert!(
                !fence.is_empty(),
                "{chapter} has a code block that does not say what it is"
            );
        }
    }
}

/// The words of `text` that name an invariant: capitals with a hyphen, such as LIFE-TAIL.
fn invariants(text: &str) -> BTreeSet<String> {
    const FAMILIES: [&str; 6] = ["BIAS-", "BLOCK-", "HANDLE-", "LIFE-", "SLOT-", "UNSYNC-"];
    text.split(|c: char| !c.is_ascii_uppercase() && c != '-')
        .filter(|word| {
            FAMILIES
                .iter()
                .any(|family| word.len() > family.len() && word.starts_with(family))
        })
        .map(str::to_owned)
        .collect()
}

/// What a SAFETY comment names is stated in ARCHITECTURE.md, and what is stated there is named.
#[test]
fn invariants_are_stated_where_the_code_says() {
    let mut named = BTreeSet::new();
    let mut folders = vec![root().join("pool-core/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                named.extend(invariants(
                    &fs::read_to_string(&path).expect("a source file"),
                ));
            }
        }
    }
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the architecture");
    let bold = text.split("**").skip(1).step_by(2);
    let stated: BTreeSet<_> = bold.flat_map(invariants).collect();
    assert_eq!(named, stated);
}
