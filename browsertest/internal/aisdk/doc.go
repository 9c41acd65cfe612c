// Package aisdk checks the chunks of runs with AI SDK's own code: npm's package ai, versions 6 and 7.
package aisdk
