// Package sandbox lets a language model act on a person's machine without being
// trusted. A [Box] holds the folder, the policy and the tools; every call of a tool
// goes through the same steps, and none of them can be left out:
//
//	schema → capability → watchdog → ask → run → truncate → trace
//
// Most programs need [New], [Standard] and [Box.Call], or [Box.Run] for the loop with
// a model:
//
//	box, err := sandbox.New(sandbox.Options{FS: journal, Policy: policy.Careful(), Ask: ui})
//	res := box.Call(ctx, "edit", map[string]any{"path": "notes.md", "old_string": "a", "new_string": "b"})
//
// The package trusts the policy, the person's answers and the tools' own code. It
// trusts no argument, no file, no name and no answer of a server: whatever a model
// was made to want, it gets what the policy allows and the person consents to. A tool
// reaches the folder, the network and the enclaves only with a [Permit] in hand, for
// just the effects that it said it needs; nothing but a decided call yields one.
//
// It also runs natively, over a folder of the operating system, with the same policy
// and the same tools.
package sandbox
