package tools

// sqliteCalls run in a browser only: the command is C for WASI.
var sqliteCalls = []call{
	{args: cmd("sqlite3", ":memory:", "select 1+1, 'a'"), out: "2|a\n"},
	{args: cmd("sqlite3", "t.db", "create table t(a, b); insert into t values (1, 'x'), (2, null)"), after: tree{"t.db-journal": "-"}},
	{args: cmd("sqlite3", "-csv", "-header", ":memory:", "select 1 as n, 'a,\"b' as s"), out: "n,s\n1,\"a,\"\"b\"\n"},
	{args: cmd("sqlite3", "-json", ":memory:", "select 1 as n, null as z, 'a\n' as s union all select 2, 2.5, x'00'"), out: "[{\"n\":1,\"z\":null,\"s\":\"a\\n\"},\n{\"n\":2,\"z\":2.5,\"s\":\"\\u0000\"}]\n"},
	{args: cmd("sqlite3", "-markdown", ":memory:", "select 1 as n, 'äb' as s"), out: "| n | s  |\n|---|----|\n| 1 | äb |\n"},
	{args: cmd("sqlite3"), in: "create table t(a);\ninsert into t\nvalues (7);\n.tables\n.schema\n.dump\nselect * from t;\n",
		out: "t\nCREATE TABLE t(a);\nPRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE t(a);\nINSERT INTO \"t\" VALUES(7);\nCOMMIT;\n7\n"},
	{args: cmd("sqlite3", ":memory:", "select nope"), err: "Error: in prepare: no such column: nope", code: 1},
	{args: cmd("sqlite3", "-readonly", "no.db", "select 1"), err: "unable to open database", code: 1},
	{args: cmd("sqlite3", ":memory:", "create virtual table f using fts5(t); insert into f values ('hello world'); select * from f where f match 'world'"), out: "hello world\n"},
	{args: cmd("sqlite3", "-nope"), err: "unknown option", code: 1},
}
