// Package vendors runs the model vendors' own npm packages beside package provider on the same bytes.
package vendors
