// Package npmtest tests the npm package of the prebuilt program as its users meet it: packed, installed into
// projects of bundlers and frameworks, type-checked, built for production, and run in Chromium from a folder,
// from another origin and under a strict policy.
//
// With -short only the project without a bundler runs. The others need the packages of testdata/package.json,
// which `make npm` installs below build.
package npmtest
