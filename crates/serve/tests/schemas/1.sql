PRAGMA foreign_keys=OFF;
PRAGMA user_version=1;
BEGIN TRANSACTION;
CREATE TABLE change (
    id INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    actor TEXT NOT NULL,
    name TEXT NOT NULL,
    before TEXT,
    after TEXT NOT NULL,
    outcome TEXT NOT NULL,
    plan INTEGER REFERENCES plan (id)
);
INSERT INTO "change" VALUES(1,1500,'dan','a','1','9','outside',NULL);
INSERT INTO "change" VALUES(2,1600,'eva','b@lab',NULL,'parent','outside',NULL);
CREATE TABLE plan (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document TEXT NOT NULL
);
INSERT INTO "plan" VALUES(2,'{"schema":"fairtree.plan/1","id":"2","user":"dan","account":"lab","cluster":"alpha","time":100,"made_from":90,"shares":[{"name":"a","account":"a","user":null,"partition":null,"before":"1","after":"2"}],"levels":[{"account":"lab","rows":[{"account":"a","user":null,"partition":null,"shares":"1"}]}],"undo_of":null,"outcome":null}');
CREATE UNIQUE INDEX change_from_outside ON change (time, actor, name, after) WHERE plan IS NULL;
CREATE INDEX change_by_time ON change (time);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('plan',2);
COMMIT;
