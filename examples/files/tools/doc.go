// Package tools holds the commands, the packages and the skills of the files example, and shows them.
package tools
