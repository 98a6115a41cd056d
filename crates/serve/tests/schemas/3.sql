PRAGMA foreign_keys=OFF;
PRAGMA user_version=3;
BEGIN TRANSACTION;
CREATE TABLE assoc (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    user TEXT NOT NULL,
    partition TEXT NOT NULL,
    UNIQUE (account, user, partition)
);
INSERT INTO assoc VALUES(1,'physics','','');
INSERT INTO assoc VALUES(2,'physics','bob','');
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
INSERT INTO change VALUES(1,1500,'dan','a','1','9','outside',NULL);
INSERT INTO change VALUES(2,1600,'eva','b@lab',NULL,'parent','outside',NULL);
CREATE TABLE course (
    assoc INTEGER NOT NULL REFERENCES assoc (id),
    time INTEGER NOT NULL,
    norm_shares REAL,
    effective_usage REAL,
    used REAL NOT NULL,
    fs_factor REAL, from_sacct INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (assoc, time)
) WITHOUT ROWID;
INSERT INTO course VALUES(1,7200,0.5,0.25,100.0,NULL,1);
INSERT INTO course VALUES(1,10800,0.5,0.75,200.0,NULL,0);
INSERT INTO course VALUES(2,7200,0.25,1.0,50.0,0.875,1);
CREATE TABLE plan (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document TEXT NOT NULL
);
INSERT INTO "plan" VALUES(2,'{"schema":"fairtree.plan/1","id":"2","user":"dan","account":"lab","cluster":"alpha","time":100,"made_from":90,"shares":[{"name":"a","account":"a","user":null,"partition":null,"before":"1","after":"2"}],"levels":[{"account":"lab","rows":[{"account":"a","user":null,"partition":null,"shares":"1"}]}],"undo_of":null,"outcome":null}');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('plan',2);
CREATE UNIQUE INDEX change_from_outside ON change (time, actor, name, after) WHERE plan IS NULL;
CREATE INDEX change_by_time ON change (time);
CREATE INDEX course_by_time ON course (time);
COMMIT;
