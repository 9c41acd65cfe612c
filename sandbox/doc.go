// Package sandbox lets a language model act on a user's machine without being trusted. A [Box]
// holds the folder, the policy and the tools. Every tool call goes through the same steps, and no
// step can be skipped:
//
//	schema → capability → watchdog → ask → run → truncate → trace
//
// Most programs need [New], [Standard] and [Box.Call], or [Box.Run] for the loop with a model:
//
//	box, err := sandbox.New(sandbox.Options{FS: journal, Policy: policy.AskBeforeChanges(), Ask: ui})
//	res := box.Call(ctx, "edit", map[string]any{"path": "notes.md", "old_string": "a", "new_string": "b"})
//
// The package trusts the policy, the user's answers and the code of the tools. It trusts no
// argument, no file, no name and no response of a server. A model that was talked into something by
// a file or a web page still gets only the effects that the policy allows and the user agrees to. A
// tool reaches the folder, the network and the enclaves only with a [Permit], which covers exactly
// the effects that [Tool].Needs declared. Only a call that passed the policy gets a permit.
//
// [FolderSkills] reads instructions in the form of the open standard Agent Skills. The user accepts each of them
// before the model receives its text, and no line of them is a permission. [Skill].Fill puts arguments
// into one.
//
// The package also works natively, over a folder of the operating system, with the same policy and
// the same tools.
package sandbox
