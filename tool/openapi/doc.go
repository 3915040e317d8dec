// Package openapi serves operations of HTTP servers as tools. Which operations stands in
// a section of a YAML file that its operator wrote: by their ids in an OpenAPI document
// (3.0 or 3.1), or by a method and a template of an address. An agent fills parameters
// and nothing else: it cannot choose a server, an operation or a header that is not
// named.
//
// A request goes to allowed origins only, and to public addresses only, unless a network
// is named. The address is looked at after the name was looked up, and that very address
// is dialled, so that a name which means something else the next moment leads nowhere.
// Each request has a connection of its own and is sent once: neither this package nor
// net/http below it repeats one. Redirects are followed for reads, within the origin.
//
// The document decides what a request looks like. What it may do to the world, its
// class, is never lowered by a document.
package openapi
