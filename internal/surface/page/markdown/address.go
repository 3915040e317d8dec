package markdown

import (
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// link writes a text that leads to an address, where it is one that a person may be led to, or else the text alone.
func (r *renderer) link(shown, to string) {
	href, ok := safe(to)
	if !ok {
		r.text(shown)
		return
	}
	r.out.WriteString(`<a href="` + template.HTMLEscapeString(href) + `" rel="noopener noreferrer nofollow">`)
	r.out.WriteString(template.HTMLEscapeString(legible.Value(shown)) + "</a>")
}

// address writes, behind a text, where it leads: the address itself is the link, so that nobody is led elsewhere than what
// they read.
func (r *renderer) address(to string) {
	if to == "" {
		return
	}
	r.out.WriteString(` (<bdi class="address" dir="ltr">`)
	r.link(to, to)
	r.out.WriteString("</bdi>)")
}

// safe returns an address as it is written into a link. Only a whole address of the web without a user's name, or a mail
// address, is one: a relative one would lead into Earshot's own page, and a name before the @ looks like the host.
func safe(to string) (string, bool) {
	u, err := url.Parse(to)
	if err != nil || legible.Text(to) != to {
		return "", false
	}
	switch {
	case slices.Contains([]string{"http", "https"}, u.Scheme) && u.Host != "" && u.User == nil && u.Opaque == "":
		return u.String(), true
	case u.Scheme == "mailto" && strings.Contains(u.Opaque, "@"):
		return u.String(), true
	default:
		return "", false
	}
}
