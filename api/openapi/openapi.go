// Package openapi holds the description of the HTTP API as an OpenAPI 3.1 document.
//
// The document and docs/api.md are generated from the table of routes ([api.Routes]), from the types that it names, and
// from the comments of these types. They are checked in. A test compares them; go test ./api/openapi -update writes
// them.
//
// [api.Routes]: https://pkg.go.dev/github.com/earshot-dev/earshot/api#Routes
package openapi

import (
	_ "embed"
	"slices"
)

//go:embed openapi.json
var document []byte

// Document returns the OpenAPI document, as JSON. The caller owns the slice.
func Document() []byte { return slices.Clone(document) }
