package tools

// These calls run in a browser only: the commands are C for WASI.
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

var jqCalls = []call{
	{args: cmd("jq", ".a"), in: `{"a":[1,{"b":null}]}`, out: "[\n  1,\n  {\n    \"b\": null\n  }\n]\n"},
	{args: cmd("jq", "-c", "map(.+1)"), in: "[1,2]", out: "[2,3]\n"},
	{args: cmd("jq", "-r", ".[]"), in: `["a","b"]`, out: "a\nb\n"},
	{args: cmd("jq", "-s", "-c", "."), in: "1 2", out: "[1,2]\n"},
	{args: cmd("jq", "-n", "--arg", "x", "y", "$x"), out: "\"y\"\n"},
	{args: cmd("jq", "-e", ".a"), in: "{}", out: "null\n", code: 1},
	{args: cmd("jq", "-R", "."), in: "a\nb\n", out: "\"a\"\n\"b\"\n"},
	{args: cmd("jq", "."), in: "12345678901234567890", out: "12345678901234567890\n"},
	{args: cmd("jq", ".a"), in: "[1]", err: "error", code: 5},
	{args: cmd("jq", "."), in: "{", err: "parse error", code: 5},
	{args: cmd("jq", ".a |"), err: "syntax error", code: 3},
	{args: cmd("jq", "-n", "-c", "[$ENV, env]"), out: "[{},{}]\n"},
}

var awkCalls = []call{
	{args: cmd("awk", "{print $2}"), in: "a b\nc d\n", out: "b\nd\n"},
	{args: cmd("awk", "-F:", "-v", "x=1", "{s+=$2} END{print s+x}"), in: "a:1\nb:2\n", out: "4\n"},
	{args: cmd("awk", "NR==2{exit 3}{print}"), in: "a\nb\n", out: "a\n", code: 3},
	{args: cmd("awk", `BEGIN{printf "%s-%03d\n", toupper("a"), 7}`), out: "A-007\n"},
	{args: cmd("awk", `{print > "f"}`), in: "x\n", after: tree{"f": "x\n"}},
	{args: cmd("awk", `BEGIN{system("echo hi")}`), err: "a program in WebAssembly starts no other", code: 2},
	{args: cmd("awk", "{"), err: "", code: 2},
	{args: cmd("awk", "BEGIN { exit 3 } END { print \"end\" }"), out: "end\n", code: 3},
	{args: cmd("awk", "END { exit 4; print \"no\" }"), in: "x\n", code: 4},
	{args: cmd("awk", "function f() { exit 5 } { f() } END { print NR }"), in: "x\ny\n", out: "1\n", code: 5},
	{args: cmd("awk", "{ while ((getline l < \"f\") > 0) print l; close(\"f\") }"), in: "x\n", files: tree{"f": "1\n2\n"}, out: "1\n2\n"},
	{args: cmd("awk", `BEGIN { "date" | getline }`), err: "a program in WebAssembly starts no other", code: 2},
}
