// Package oauth logs a person in at servers of the Model Context Protocol that ask for it, and keeps the login: the
// authorization specification of the protocol (2025-06-18 and later) with RFC 9728, RFC 8414, RFC 7591, RFC 8707, RFC 9207
// and PKCE.
//
// [Discover] finds where the login of a server is. [Store.Begin] makes an address for the person to open, and
// [Store.Finish] makes a login of the address that the browser is sent back to, which a [Callback] receives. A login is a
// file of its own that only its owner can read; [Store.Source] has its tokens for a running server, and renews them.
//
// Tokens, codes and secrets of clients are in no error and no notice.
package oauth
