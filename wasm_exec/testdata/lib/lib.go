// Package lib has no main.
package lib
