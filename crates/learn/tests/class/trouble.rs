//! What a student sees while the database or the server has trouble.

use std::cell::Cell;

use sqlx::Connection as _;

use crate::database::{Class, file};
use crate::server::Server;

impl Class {
    fn execute(&self, command: &'static str) {
        self.runtime.block_on(async {
            let mut connection = sqlx::AnyConnection::connect(&self.address).await.unwrap();
            sqlx::query(command).execute(&mut connection).await.unwrap();
        });
    }
}

#[test]
fn a_page_says_that_the_database_does_not_answer_and_goes_on() {
    for class in Class::each(&["anna"]) {
        let server = Server::start(&class, 0);
        let mut anna = server.browser(&class, "anna");
        let run = class.enqueue("anna", "guard", &file("guard/solution.rs"), false);
        let events = Cell::new(Vec::new());
        let last = anna.events(&format!("/runs/{run}/events"), |data| {
            let event: serde_json::Value = serde_json::from_str(data).unwrap();
            let mut seen = events.take();
            seen.push(event["event"].as_str().unwrap().to_owned());
            match seen.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["waiting"] => class.execute("ALTER TABLE jobs RENAME TO away"),
                ["waiting", "note"] => {
                    assert!(event["text"].as_str().unwrap().contains("Your run is kept"), "{event}");
                    class.execute("ALTER TABLE away RENAME TO jobs");
                }
                _ => {}
            }
            let is_last = seen.len() == 4;
            events.set(seen);
            is_last
        });
        assert!(last.unwrap().unwrap().contains("\"position\":1"));
        assert_eq!(events.take(), ["waiting", "note", "taken", "waiting"]);
        assert!(server.log().contains("note: the database: "), "{}", server.log());
    }
}

#[test]
fn a_session_outlives_the_server() {
    for class in Class::each(&["anna"]) {
        let mut server = Server::start(&class, 0);
        let mut anna = server.browser(&class, "anna");
        assert_eq!(anna.get("/exercises/guard").unwrap().status, 200);
        server.kill();
        assert_eq!(anna.get("/exercises/guard").unwrap().status, 200);
    }
}
