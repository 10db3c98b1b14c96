CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL,
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

CREATE TABLE store_key (
    name TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (name)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE ledger_entry (
    idx INTEGER NOT NULL,
    id TEXT NOT NULL,
    entry BLOB NOT NULL,
    leaf BLOB NOT NULL,
    PRIMARY KEY (idx),
    UNIQUE (id)
)
 STRICT;

CREATE TABLE tile (
    level INTEGER NOT NULL,
    n INTEGER NOT NULL,
    hashes BLOB NOT NULL,
    PRIMARY KEY (level, n)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE segment (
    entry INTEGER NOT NULL,
    source INTEGER NOT NULL,
    start INTEGER NOT NULL,
    size INTEGER NOT NULL,
    line INTEGER NOT NULL,
    records INTEGER NOT NULL,
    cuts BLOB NOT NULL,
    data BLOB NOT NULL,
    digest BLOB NOT NULL,
    salts BLOB NOT NULL,
    commits BLOB NOT NULL,
    PRIMARY KEY (entry)
)
 STRICT;

CREATE INDEX segment_by_source ON segment (source, start);

CREATE TABLE payload (
    "commit" BLOB NOT NULL,
    salt BLOB NOT NULL,
    sha256 BLOB NOT NULL,
    media TEXT NOT NULL,
    size INTEGER NOT NULL,
    PRIMARY KEY ("commit")
)
 STRICT;

CREATE INDEX payload_by_digest ON payload (sha256);

CREATE TABLE payload_chunk (
    "commit" BLOB NOT NULL,
    no INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY ("commit", no)
)
 STRICT;

CREATE TRIGGER ledger_gapless BEFORE INSERT ON ledger_entry
WHEN NEW.idx <> (SELECT coalesce(max(idx) + 1, 0) FROM ledger_entry)
BEGIN SELECT raise(ABORT, 'ledger entries are numbered without a gap'); END;

CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger_entry
BEGIN SELECT raise(ABORT, 'ledger entries never change'); END;

CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger_entry
BEGIN SELECT raise(ABORT, 'ledger entries are never deleted'); END;

CREATE TRIGGER tile_no_update BEFORE UPDATE ON tile
BEGIN SELECT raise(ABORT, 'tiles never change'); END;

CREATE TRIGGER tile_no_delete BEFORE DELETE ON tile
BEGIN SELECT raise(ABORT, 'tiles are never deleted'); END;

CREATE TRIGGER segment_no_update
BEFORE UPDATE OF entry, source, start, size, line, records, cuts, commits ON segment
BEGIN SELECT raise(ABORT, 'of a segment only bytes and salts can be withheld'); END;

CREATE TRIGGER segment_no_delete BEFORE DELETE ON segment
BEGIN SELECT raise(ABORT, 'segments are never deleted'); END;

CREATE TRIGGER payload_no_update BEFORE UPDATE ON payload
BEGIN SELECT raise(ABORT, 'payloads never change'); END;

CREATE TRIGGER payload_chunk_no_update BEFORE UPDATE ON payload_chunk
BEGIN SELECT raise(ABORT, 'payloads never change'); END;

CREATE TABLE fold (
	name TEXT NOT NULL,
	version INTEGER NOT NULL,
	entries INTEGER NOT NULL,
	PRIMARY KEY (name)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE source (
	no INTEGER NOT NULL,
	id TEXT NOT NULL,
	revision INTEGER NOT NULL,
	"key" BLOB NOT NULL,
	path TEXT NOT NULL,
	format TEXT NOT NULL,
	native TEXT NOT NULL,
	lane TEXT NOT NULL,
	session INTEGER,
	cursor INTEGER NOT NULL,
	line INTEGER NOT NULL,
	sort INTEGER NOT NULL,
	entries INTEGER NOT NULL,
	last INTEGER NOT NULL,
	records INTEGER NOT NULL,
	mapped INTEGER NOT NULL,
	unknown INTEGER NOT NULL,
	duplicates INTEGER NOT NULL,
	unreadable INTEGER NOT NULL,
	turn INTEGER NOT NULL,
	PRIMARY KEY (no)
)
 STRICT;

CREATE INDEX source_by_key ON source ("key", revision);

CREATE INDEX source_replaced ON source (revision, "key") WHERE revision > 1;

CREATE TABLE session (
	no INTEGER NOT NULL,
	uid TEXT NOT NULL,
	format TEXT NOT NULL,
	native TEXT NOT NULL,
	title TEXT NOT NULL,
	project TEXT,
	cwd TEXT,
	git_branch TEXT,
	version TEXT,
	timed INTEGER NOT NULL,
	started INTEGER NOT NULL,
	ended INTEGER NOT NULL,
	events INTEGER NOT NULL,
	turns INTEGER NOT NULL,
	lanes INTEGER NOT NULL,
	branches INTEGER NOT NULL,
	problems INTEGER NOT NULL,
	unreadable INTEGER NOT NULL,
	unknown INTEGER NOT NULL,
	duplicates INTEGER NOT NULL,
	models TEXT NOT NULL,
	tokens INTEGER NOT NULL,
	tokens_in INTEGER NOT NULL,
	tokens_out INTEGER NOT NULL,
	cache_read INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	checked TEXT,
	parent TEXT,
	relation TEXT,
	state TEXT NOT NULL,
	PRIMARY KEY (no),
	UNIQUE (uid)
)
 STRICT;

CREATE INDEX session_by_ended ON session (ended, no);

CREATE INDEX session_by_events ON session (events, no);

CREATE INDEX session_by_native ON session (format, native);

CREATE INDEX session_by_parent ON session (format, parent) WHERE parent IS NOT NULL;

CREATE INDEX session_by_problems ON session (problems, no);

CREATE INDEX session_by_started ON session (started, no);

CREATE INDEX session_by_title ON session (title, no);

CREATE INDEX session_by_tokens ON session (tokens, no);

CREATE INDEX session_by_turns ON session (turns, no);

CREATE TABLE turn (
	session INTEGER NOT NULL,
	turn INTEGER NOT NULL,
	"key" TEXT NOT NULL,
	n INTEGER NOT NULL,
	sort INTEGER NOT NULL,
	parent INTEGER NOT NULL,
	branch INTEGER NOT NULL,
	alias TEXT,
	PRIMARY KEY (session, turn)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE lane (
	session INTEGER NOT NULL,
	lane INTEGER NOT NULL,
	name TEXT NOT NULL,
	title TEXT,
	parent INTEGER,
	depth INTEGER,
	turn INTEGER,
	spawn INTEGER,
	events INTEGER NOT NULL,
	began INTEGER,
	first INTEGER,
	told INTEGER NOT NULL,
	PRIMARY KEY (session, lane)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE event (
	n INTEGER NOT NULL,
	id INTEGER NOT NULL,
	session INTEGER NOT NULL,
	lane INTEGER NOT NULL,
	turn INTEGER NOT NULL,
	kind TEXT NOT NULL,
	actor TEXT NOT NULL,
	at INTEGER,
	sort INTEGER NOT NULL,
	parent INTEGER,
	pair INTEGER,
	tool TEXT,
	model TEXT,
	summary TEXT NOT NULL,
	size INTEGER NOT NULL,
	ok INTEGER,
	millis INTEGER,
	copies INTEGER NOT NULL,
	inferred INTEGER NOT NULL,
	problem INTEGER NOT NULL,
	flags TEXT NOT NULL,
	PRIMARY KEY (n)
)
 STRICT;

CREATE INDEX event_by_id ON event (id);

CREATE INDEX event_in_order ON event (session, sort);

CREATE INDEX event_problem ON event (session, sort) WHERE problem = 1;

CREATE TABLE usage (
	n INTEGER NOT NULL,
	message INTEGER NOT NULL,
	session INTEGER NOT NULL,
	model TEXT,
	tokens_in INTEGER NOT NULL,
	tokens_out INTEGER NOT NULL,
	cache_read INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	PRIMARY KEY (n)
)
 STRICT;

CREATE INDEX usage_by_message ON usage (message);

CREATE TABLE open_call (
	session INTEGER NOT NULL,
	call INTEGER NOT NULL,
	n INTEGER NOT NULL,
	early INTEGER NOT NULL,
	at INTEGER,
	told TEXT,
	lane INTEGER NOT NULL,
	turn INTEGER NOT NULL,
	PRIMARY KEY (session, call)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE passed (
	id INTEGER NOT NULL,
	turn INTEGER NOT NULL,
	lane INTEGER NOT NULL,
	parent INTEGER,
	n INTEGER NOT NULL,
	PRIMARY KEY (id)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE awaited (
	parent INTEGER NOT NULL,
	n INTEGER NOT NULL,
	PRIMARY KEY (parent, n)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE copied (
	n INTEGER NOT NULL,
	original INTEGER NOT NULL,
	PRIMARY KEY (n)
)
 STRICT;

CREATE INDEX copied_by_original ON copied (original);

CREATE TABLE beginning (
	record INTEGER NOT NULL,
	session INTEGER NOT NULL,
	PRIMARY KEY (record, session)
)
 WITHOUT ROWID,
 STRICT;

CREATE INDEX beginning_by_session ON beginning (session);

CREATE TABLE repeated (
	source INTEGER NOT NULL,
	id INTEGER NOT NULL,
	count INTEGER NOT NULL,
	PRIMARY KEY (source, id)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE unreadable (
	n INTEGER NOT NULL,
	source INTEGER NOT NULL,
	session INTEGER,
	line INTEGER NOT NULL,
	"offset" INTEGER NOT NULL,
	length INTEGER NOT NULL,
	reason TEXT NOT NULL,
	PRIMARY KEY (n)
)
 STRICT;

CREATE INDEX unreadable_by_source ON unreadable (source, n);

CREATE TABLE artifact (
	session INTEGER NOT NULL,
	n INTEGER NOT NULL,
	digest BLOB NOT NULL,
	media TEXT NOT NULL,
	name TEXT,
	size INTEGER NOT NULL,
	PRIMARY KEY (session, n)
)
 WITHOUT ROWID,
 STRICT;

CREATE INDEX artifact_by_digest ON artifact (digest);

CREATE TABLE snapshot (
	session INTEGER NOT NULL,
	n INTEGER NOT NULL,
	id TEXT NOT NULL,
	uid TEXT NOT NULL,
	asker TEXT,
	request TEXT,
	purpose TEXT,
	question TEXT NOT NULL,
	timed INTEGER NOT NULL,
	at INTEGER NOT NULL,
	recalled INTEGER,
	filtered INTEGER,
	ranked_out INTEGER,
	trimmed INTEGER,
	selected INTEGER,
	redacted INTEGER,
	sources TEXT NOT NULL,
	reasons TEXT NOT NULL,
	verdict TEXT,
	PRIMARY KEY (session, n)
)
 WITHOUT ROWID,
 STRICT;

CREATE INDEX snapshot_by_at ON snapshot (at, n);

CREATE INDEX snapshot_by_id ON snapshot (id);

CREATE INDEX snapshot_by_uid ON snapshot (uid);

CREATE TABLE gate_run (
	session INTEGER NOT NULL,
	n INTEGER NOT NULL,
	id TEXT NOT NULL,
	uid TEXT NOT NULL,
	"query" TEXT NOT NULL,
	space TEXT,
	timed INTEGER NOT NULL,
	at INTEGER NOT NULL,
	accepted INTEGER NOT NULL,
	rejected INTEGER NOT NULL,
	dry INTEGER NOT NULL,
	policy INTEGER,
	reasons TEXT NOT NULL,
	PRIMARY KEY (session, n)
)
 WITHOUT ROWID,
 STRICT;

CREATE INDEX gate_run_by_at ON gate_run (at, n);

CREATE INDEX gate_run_by_id ON gate_run (id);

CREATE INDEX gate_run_by_uid ON gate_run (uid);

CREATE TABLE summary (
	format TEXT NOT NULL,
	leaf TEXT NOT NULL,
	summary TEXT NOT NULL,
	PRIMARY KEY (format, leaf)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE rule_section (
	source INTEGER NOT NULL,
	section INTEGER NOT NULL,
	n INTEGER NOT NULL,
	heading TEXT NOT NULL,
	level INTEGER NOT NULL,
	first INTEGER NOT NULL,
	last INTEGER NOT NULL,
	"offset" INTEGER NOT NULL,
	size INTEGER NOT NULL,
	digest BLOB,
	hidden INTEGER NOT NULL,
	PRIMARY KEY (source, section)
)
 WITHOUT ROWID,
 STRICT;

CREATE INDEX rule_section_by_digest ON rule_section (digest);

CREATE TABLE fork (
	source INTEGER NOT NULL,
	format TEXT NOT NULL,
	native TEXT NOT NULL,
	parent TEXT NOT NULL,
	since INTEGER,
	start INTEGER,
	sure INTEGER NOT NULL,
	timed INTEGER NOT NULL,
	frontier INTEGER NOT NULL,
	seen INTEGER NOT NULL,
	"end" INTEGER,
	awaits INTEGER,
	PRIMARY KEY (source)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE echo (
	session INTEGER NOT NULL,
	said INTEGER NOT NULL,
	n INTEGER NOT NULL,
	notices INTEGER NOT NULL,
	items INTEGER NOT NULL,
	PRIMARY KEY (session, said)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE candidate (
	id TEXT NOT NULL,
	native TEXT NOT NULL,
	n INTEGER NOT NULL,
	seen INTEGER NOT NULL,
	origin TEXT NOT NULL,
	version INTEGER NOT NULL,
	status TEXT NOT NULL,
	claimed TEXT NOT NULL,
	kind TEXT NOT NULL,
	level TEXT NOT NULL,
	scope TEXT NOT NULL,
	source TEXT NOT NULL,
	confidence TEXT NOT NULL,
	authority TEXT NOT NULL,
	created INTEGER NOT NULL,
	expires INTEGER,
	risk INTEGER NOT NULL,
	words TEXT NOT NULL,
	memory TEXT,
	merged TEXT,
	until INTEGER,
	stream TEXT,
	sseq INTEGER,
	entry INTEGER,
	PRIMARY KEY (id)
)
 STRICT;

CREATE INDEX candidate_by_created ON candidate (created, id);

CREATE INDEX candidate_by_scope ON candidate (level, scope);

CREATE INDEX candidate_by_status ON candidate (status, created, id);

CREATE INDEX candidate_by_words ON candidate (words);

CREATE INDEX candidate_waiting ON candidate (risk, id) WHERE status IN ('pending', 'needs_review', 'quarantined');

CREATE TABLE candidate_version (
	candidate TEXT NOT NULL,
	version INTEGER NOT NULL,
	entry INTEGER,
	body TEXT NOT NULL,
	PRIMARY KEY (candidate, version)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE candidate_line (
	n INTEGER NOT NULL,
	candidate TEXT NOT NULL,
	PRIMARY KEY (n)
)
 STRICT;

CREATE INDEX candidate_line_of ON candidate_line (candidate);

CREATE TABLE memory (
	id TEXT NOT NULL,
	candidate TEXT NOT NULL,
	version INTEGER NOT NULL,
	status TEXT NOT NULL,
	kind TEXT NOT NULL,
	level TEXT NOT NULL,
	scope TEXT NOT NULL,
	authority TEXT NOT NULL,
	confidence TEXT NOT NULL,
	visibility TEXT NOT NULL,
	user TEXT,
	agent TEXT,
	space TEXT,
	route TEXT,
	task_type TEXT,
	risk_mode TEXT,
	created INTEGER NOT NULL,
	approved INTEGER NOT NULL,
	verified INTEGER,
	updated INTEGER NOT NULL,
	expires INTEGER,
	review INTEGER,
	words TEXT NOT NULL,
	merged TEXT,
	stream TEXT,
	sseq INTEGER,
	entry INTEGER,
	PRIMARY KEY (id)
)
 STRICT;

CREATE INDEX memory_by_scope ON memory (level, scope);

CREATE INDEX memory_by_status ON memory (status, id);

CREATE INDEX memory_by_updated ON memory (updated, id);

CREATE INDEX memory_by_words ON memory (words);

CREATE TABLE memory_version (
	memory TEXT NOT NULL,
	version INTEGER NOT NULL,
	decision TEXT NOT NULL,
	entry INTEGER NOT NULL,
	status TEXT NOT NULL,
	body TEXT NOT NULL,
	PRIMARY KEY (memory, version)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE claim (
	object TEXT NOT NULL,
	"by" TEXT NOT NULL,
	at INTEGER NOT NULL,
	until INTEGER NOT NULL,
	entry INTEGER NOT NULL,
	PRIMARY KEY (object)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE decision (
	id TEXT NOT NULL,
	entry INTEGER NOT NULL,
	at INTEGER NOT NULL,
	verb TEXT NOT NULL,
	what TEXT NOT NULL,
	object TEXT NOT NULL,
	version INTEGER NOT NULL,
	"by" TEXT NOT NULL,
	reason TEXT NOT NULL,
	shown_hash TEXT NOT NULL,
	findings TEXT NOT NULL,
	batch TEXT,
	memory TEXT,
	"before" TEXT NOT NULL,
	undone TEXT,
	PRIMARY KEY (id)
)
 STRICT;

CREATE INDEX decision_about ON decision (object, entry);

CREATE INDEX decision_by_batch ON decision (batch);

CREATE TABLE said (
	what TEXT NOT NULL,
	id TEXT NOT NULL,
	"key" TEXT NOT NULL,
	attribute TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (what, id, "key")
)
 WITHOUT ROWID,
 STRICT;

CREATE INDEX said_of ON said (attribute, value);

CREATE TABLE tombstone (
	id TEXT NOT NULL,
	entry INTEGER NOT NULL,
	what TEXT NOT NULL,
	object TEXT NOT NULL,
	version INTEGER NOT NULL,
	words TEXT NOT NULL,
	salt TEXT NOT NULL,
	mac TEXT NOT NULL,
	undone INTEGER NOT NULL,
	PRIMARY KEY (id)
)
 WITHOUT ROWID,
 STRICT;

CREATE INDEX tombstone_by_words ON tombstone (words);

CREATE TABLE policy (
	entry INTEGER NOT NULL,
	id TEXT NOT NULL,
	stream TEXT NOT NULL,
	sseq INTEGER NOT NULL,
	time INTEGER NOT NULL,
	actor TEXT,
	reason TEXT,
	document TEXT,
	PRIMARY KEY (entry)
)
 STRICT;

CREATE TABLE withheld (
	"commit" BLOB NOT NULL,
	entry INTEGER NOT NULL,
	PRIMARY KEY ("commit")
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE ix_holder (
	record INTEGER NOT NULL,
	session INTEGER NOT NULL,
	PRIMARY KEY (record, session)
)
 WITHOUT ROWID,
 STRICT;

CREATE VIRTUAL TABLE ix_text USING fts5(text, content='', tokenize='unicode61');

INSERT INTO alembic_version VALUES('0001');

INSERT INTO ix_text(ix_text, rank) VALUES('secure-delete', 1);
