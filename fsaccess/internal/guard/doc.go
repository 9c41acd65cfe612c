// Package guard is the layer that checks every operation of a folder against a policy, names
// against deception, and new content for dangerous kinds. It asks the user where the policy
// says so. It trusts no name and no content, and it keeps no file.
package guard
