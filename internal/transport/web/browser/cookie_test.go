package browser_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// stranger is another user of this machine, who serves a page and writes down what comes.
type stranger struct {
	mu    sync.Mutex
	heard []http.Header
	paths []string
}

// listen serves at an address until the test ends, or stop is called.
func (x *stranger) listen(t *testing.T, address string) (port string, stop func()) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
	must(t, err)
	_, port, err = net.SplitHostPort(l.Addr().String())
	must(t, err)
	server := &http.Server{Handler: x}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) }) // ends when it is closed
	stop = func() {
		_ = server.Close() // it may have been
		serving.Wait()
	}
	t.Cleanup(stop)
	return port, stop
}

// ServeHTTP answers with a page that does nothing by itself.
func (x *stranger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	header := r.Header.Clone()
	header.Set("Host", r.Host)
	x.heard, x.paths = append(x.heard, header), append(x.paths, r.Host+r.URL.Path)
	w.Header().Set("Content-Type", "text/html")
	_, _ = w.Write([]byte("<!DOCTYPE html><title>stranger</title><p>Hello.</p>"))
}

// learns tells what it has got of the page's login or of the page's name.
func (x *stranger) learns(name string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var all []string
	for i, header := range x.heard {
		if text := fmt.Sprint(header); header.Get("Cookie") != "" || strings.Contains(text, name) {
			all = append(all, x.paths[i]+": "+text)
		}
	}
	return all
}

func (x *stranger) visits() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.heard)
}

// name is the page's own name, without the port.
func (s *server) name() string {
	s.t.Helper()
	u, err := url.Parse(s.page)
	must(s.t, err)
	return u.Hostname()
}

// goes leads the tab to any address.
func (b *tab) goes(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
}

// TestCookieStaysHere: while somebody is logged in, the same browser opens a page of another
// user of this machine, on another port of 127.0.0.1, of [::1] and of localhost: they are
// sent no cookie, and are not told the page's name. Their page sends what it can to ours, and
// nothing comes of it.
func TestCookieStaysHere(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	session := s.turn(1)
	b.hears("Question 1")
	var x stranger
	port, _ := x.listen(t, "127.0.0.1:0")
	addresses := []string{"http://127.0.0.1:" + port, "http://localhost:" + port, "http://another.localhost:" + port}
	if l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "[::1]:0"); err == nil {
		must(t, l.Close())
		port6, _ := x.listen(t, l.Addr().String())
		addresses = append(addresses, "http://[::1]:"+port6)
	}
	for _, address := range addresses {
		before := x.visits()
		b.goes(address + "/lure")
		b.until(`document.title === "stranger"`)
		if x.visits() == before {
			t.Fatalf("%s was not reached, so nothing is shown", address)
		}
		// Everything that a page may send without being asked: to every name of our server
		// that it knows, with the cookies that the browser has for it.
		api := strings.TrimPrefix(s.url, "http://127.0.0.1")
		for _, host := range []string{"127.0.0.1", "localhost", "[::1]"} {
			target := "http://" + host + api
			value[bool](b, fmt.Sprintf(`Promise.allSettled([
				fetch(%[1]q + "/", { credentials: "include", mode: "no-cors" }),
				fetch(%[1]q + "/questions/1/accept", { method: "POST", credentials: "include", mode: "no-cors", body: new URLSearchParams({ token: "x" }) }),
				fetch(%[1]q + "/login", { method: "POST", credentials: "include", mode: "no-cors", body: new URLSearchParams({ code: "x" }) }),
			]).then(() => true)`, target))
		}
	}
	if got := x.learns(s.name()); len(got) != 0 {
		t.Errorf("the stranger was sent\n%s", strings.Join(got, "\n"))
	}
	if open := s.questions(); len(open) != 1 {
		t.Errorf("open are %+v", open)
	}
	if cookies, want := s.cookies(b), []string{"earshot_page of " + s.name(), "earshot_zone of " + s.name()}; !slices.Equal(cookies, want) {
		t.Errorf("the browser has the cookies %q, want %q", cookies, want)
	}
	b.visit("/")
	b.connected()
	s.api(http.MethodPost, "/api/v1/sessions/"+session+"/stop", map[string]any{}, nil)
}

// TestCookieLeaksUnderASharedName shows that the attack works where nothing defends: with
// the page at a name that everybody knows, another port of it is sent the cookie.
func TestCookieLeaksUnderASharedName(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	s.kill()
	s.args, s.page = []string{"--page-url", strings.Replace(s.url, "127.0.0.1", "localhost", 1)}, ""
	s.start()
	b := s.login()
	var x stranger
	port, _ := x.listen(t, "127.0.0.1:0")
	b.goes("http://localhost:" + port + "/lure")
	b.until(`document.title === "stranger"`)
	if got := x.learns("earshot_page="); len(got) == 0 {
		t.Error("the stranger was sent no cookie, so the other tests here show nothing")
	}
}

// TestSquatter: the server is down, and another user of the machine takes its port. Who
// goes to the server's address on 127.0.0.1, on localhost or on [::1] sends them no cookie,
// and once the server is back the login counts as before.
func TestSquatter(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	b.goes("about:blank")
	s.kill()
	port := strings.TrimPrefix(s.url, "http://127.0.0.1:")
	var x stranger
	_, stop := x.listen(t, "127.0.0.1:"+port)
	for _, address := range []string{s.url, "http://localhost:" + port} {
		before := x.visits()
		b.goes(address + "/")
		b.until(`document.title === "stranger"`)
		if x.visits() == before {
			t.Fatalf("%s was not reached, so nothing is shown", address)
		}
	}
	if got := x.learns(s.name()); len(got) != 0 {
		t.Errorf("the squatter was sent\n%s", strings.Join(got, "\n"))
	}
	b.goes("about:blank")
	stop()
	s.start()
	b.visit("/")
	b.connected()
}

// TestNameIsNotInReferer: a link and a request from the page to elsewhere, another port of its
// own name too, do not say where they come from. (The content policy of the page allows no
// request elsewhere; a link is the person's.)
func TestNameIsNotInReferer(t *testing.T) {
	t.Parallel()
	s := serve(t, 1)
	b := s.login()
	var x stranger
	port, _ := x.listen(t, "127.0.0.1:0")
	value[bool](b, fmt.Sprintf(`(() => {
		const link = document.createElement("a");
		link.href = "http://127.0.0.1:%s/from";
		document.body.append(link);
		link.click();
		return true;
	})()`, port))
	b.until(`document.title === "stranger"`)
	if x.visits() == 0 {
		t.Fatal("the link was not followed, so nothing is shown")
	}
	if got := x.learns(s.name()); len(got) != 0 {
		t.Errorf("the stranger was sent\n%s", strings.Join(got, "\n"))
	}
}

// cookies are those that the tab's browser has, and of which names.
func (s *server) cookies(b *tab) []string {
	s.t.Helper()
	var all []string
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		found, err := chromedp.Call(ctx, network.GetCookies, network.GetCookiesParams{
			URLs: []string{s.page + "/", s.url + "/", strings.Replace(s.url, "127.0.0.1", "localhost", 1) + "/"},
		})
		if err != nil {
			return err
		}
		for _, c := range found.Cookies {
			all = append(all, c.Name+" of "+c.Domain)
		}
		return nil
	}))
	slices.Sort(all)
	return all
}
