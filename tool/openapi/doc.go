// Package openapi serves operations of HTTP servers as tools. A section of a YAML file that the operator wrote selects
// the operations: by their ids in an OpenAPI document (3.0 or 3.1), or by a method and a URL template. An agent fills
// in parameters and nothing else: it cannot choose a server, an operation or a header that is not named.
//
// A request goes to allowed origins only, and to public addresses only, unless a network is named. The address is
// checked after the name was resolved, and exactly that address is dialled, so a name that resolves differently a
// moment later gains nothing. Each request has its own connection and is sent once: neither this package nor net/http
// below it repeats one. Redirects are followed for reads, within the origin.
//
// The document decides what a request looks like. It never lowers the tool's class.
package openapi
