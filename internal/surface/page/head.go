package page

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"maps"
	"slices"
)

const styleExt = ".css"

// style is a style as it stands in the head of a page: what a page looks like comes with it, and nothing is waited for before it is
// painted. A policy allows it by its digest, see [Assets.StyleSources].
func (p *Assets) style(name string) (template.HTML, error) {
	text, found := p.styles[name]
	if !found {
		return "", fmt.Errorf("web: found no style %s", name)
	}
	return template.HTML("<style>" + text + "</style>"), nil //nolint:gosec // it is part of the program
}

// StyleSources are the sources that a Content-Security-Policy has to allow for the styles of the pages: the digest of each, so that no
// other style is taken, wherever it comes from.
func (p *Assets) StyleSources() []string {
	sources := make([]string, 0, len(p.styles))
	for _, name := range slices.Sorted(maps.Keys(p.styles)) {
		sum := sha256.Sum256([]byte(p.styles[name]))
		sources = append(sources, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	return sources
}

// script is a script in the head of a page. All that it imports is in it.
func (p *Assets) script(name string) (template.HTML, error) {
	if _, found := p.File(name); !found {
		return "", fmt.Errorf("web: found no script %s", name)
	}
	return template.HTML(`<script type="module" src="/page/` + name + `"></script>`), nil //nolint:gosec // a name of our own
}
