package web

import (
	"cmp"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/api"
)

// The largest accepted bodies.
const (
	replyLimit = transport.MessageLimit
	formLimit  = 64 << 10
)

const (
	// socketPath is where the WebSocket is (TR-WS-01).
	socketPath = api.AAEPRoot + "/ws"
	// pageSocketPath is where that of a page is.
	pageSocketPath = "/page/socket"
)

// strictTransport keeps browsers from the page's host without TLS for a year (RFC 6797). Names below it are not ours to speak for.
const strictTransport = "max-age=31536000"

// policy returns the Content-Security-Policy of our pages: take the styles that stand in them and no others, load their own scripts
// and manifest, talk to this server, and send forms to it. Nothing else is allowed, and no other page may frame them.
func policy(styles []string) string {
	return "default-src 'none'; script-src 'self'; style-src " + strings.Join(styles, " ") + "; img-src 'self'; connect-src 'self'; " +
		"manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// guard refuses a request that names another host or comes from a foreign origin, before any other handler runs. Its
// answers never reveal the page's name.
func (s *Server) guard(page, elsewhere http.Handler) http.Handler {
	policy := policy(s.pages.StyleSources())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		// No other origin gets the Referer, not even another port of the page's host. "no-referrer" would not do: with
		// that, browsers send "null" as the Origin of the page's own forms.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if s.page.secure() && s.onPage(r) && !isLoopback(r.Host) {
			h.Set("Strict-Transport-Security", strictTransport)
		}
		served := elsewhere
		switch {
		case s.onPage(r):
			served = page
		case !s.named(r.Host):
			s.fail(w, r, refuse(api.KindMisdirected, "this server does not answer to the name in the Host header",
				"use the address that the server printed; behind a proxy, hand on the Host that the browser sent, and start the server with --page-url"))
			return
		}
		origin := r.Header.Get("Origin")
		crossOrigin := origin != "" && (!s.onPage(r) || origin != s.page.text) && !s.namesItself(r, origin)
		if crossOrigin && isAPI(r) && slices.Contains(s.options.AllowedOrigins, origin) {
			h.Add("Vary", "Origin")
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers", "Location, Mcp-Session-Id, Retry-After")
			h.Set("Cross-Origin-Resource-Policy", "cross-origin")
			if r.Method == http.MethodOptions {
				methods, headers := strings.Join(api.Methods(), ", "), "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Cache-Control"
				if isMCP(r) {
					methods, headers = mcpMethods, mcpHeaders
				}
				h.Set("Access-Control-Allow-Methods", methods)
				h.Set("Access-Control-Allow-Headers", headers)
				h.Set("Access-Control-Max-Age", "600")
				w.WriteHeader(http.StatusNoContent)
				return
			}
			crossOrigin = false
		}
		if (!safe(r.Method) || isMCP(r) || isSocket(r)) && (crossOrigin || crossSite(r, origin)) {
			s.fail(w, r, refuse(api.KindForbidden, "the request comes from another site", "open the page of this server itself, or allow that origin in its configuration"))
			return
		}
		served.ServeHTTP(w, r)
	})
}

// isAPI reports whether a path belongs to the API, which takes tokens.
func isAPI(r *http.Request) bool {
	return isMCP(r) || strings.HasPrefix(r.URL.Path, api.Root+"/") || strings.HasPrefix(r.URL.Path, api.AAEPRoot+"/")
}

// isSocket reports whether a path is that of a WebSocket. A browser lets any page connect to it, and sends the cookies of the host
// along, so that it is treated as a request that changes something.
func isSocket(r *http.Request) bool {
	return r.URL.Path == socketPath || r.URL.Path == pageSocketPath
}

// crossSite reports whether, according to the browser, another site made the request. Browsers say so even without an
// Origin.
func crossSite(r *http.Request, origin string) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return origin == "" && site != "" && site != "same-origin" && site != "none"
}

func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

// body reads a JSON body of at most limit bytes.
func body(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, refuse(api.KindMedia, "found the content type "+clip(r.Header.Get("Content-Type"))+", expected application/json",
			"send JSON, with the header Content-Type: application/json")
	}
	deadline(w, bodyTime)
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	deadline(w, 0)
	if err != nil {
		return nil, err //nolint:wrapcheck // told looks at the type
	}
	return raw, nil
}

// bodyTime is how long a body may take to arrive.
const bodyTime = 10 * time.Second

// deadline limits the time to read a body; 0 removes the limit. It does nothing for a writer without a connection, as
// in a test.
func deadline(w http.ResponseWriter, d time.Duration) {
	at := time.Time{}
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = http.NewResponseController(w).SetReadDeadline(at)
}

// clip truncates and quotes text from the client.
func clip(text string) string {
	const most = 64
	if len(text) > most {
		text = text[:most] + "…"
	}
	return "“" + strings.ToValidUTF8(legible.Text(text), "?") + "”"
}

// wantsPage reports whether the client is a browser that requests a document.
func wantsPage(r *http.Request) bool {
	return accepts(r, "text/html")
}

// accepts reports whether the client names a media type among those that it takes. Patterns such as */* name none.
func accepts(r *http.Request, kind string) bool {
	for _, value := range r.Header.Values("Accept") {
		for one := range strings.SplitSeq(value, ",") {
			named, parameters, err := mime.ParseMediaType(one)
			weight, unknown := strconv.ParseFloat(cmp.Or(parameters["q"], "1"), 64)
			if err == nil && named == kind && unknown == nil && weight > 0 {
				return true
			}
		}
	}
	return false
}
