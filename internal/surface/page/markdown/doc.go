// Package markdown renders the Markdown of agents as HTML that is safe to put on a page: [Render].
//
// Agents and tools write what others gave them, so the text is hostile until proven otherwise. The parser of goldmark reads
// it; what is written is made here, element by element, from a short list. There is no way to write another element, an
// attribute of the author's or an address other than http, https and mailto. Nothing is loaded: an image is its description
// and its address. HTML in the text is shown as the text that it is. Every text goes through package legible.
//
// The package is pure.
package markdown
