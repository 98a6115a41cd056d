//! What the documents and the help texts say that a command prints is what it prints; and the manners
//! that all subcommands have.

mod command;

#[path = "documents/broken.rs"]
mod broken;
#[path = "../../../tests/common/console.rs"]
mod console;
#[path = "documents/contributor.rs"]
mod contributor;
#[allow(dead_code)] // Not all tests read text.
#[path = "../../../tests/common/data.rs"]
mod data;
#[path = "documents/guides.rs"]
mod guides;
#[path = "documents/help.rs"]
mod help;
#[path = "documents/paths.rs"]
mod paths;
#[path = "documents/sandbox.rs"]
mod sandbox;
#[path = "documents/schemas.rs"]
mod schemas;
#[path = "documents/shells.rs"]
mod shells;
#[path = "documents/terminal.rs"]
mod terminal;
