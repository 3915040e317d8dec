package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/earshot-dev/earshot/internal/transport/web"
)

// pageNameBytes is how much chance the page's name has in it: nobody can guess it.
const pageNameBytes = 16

// pageAnew ends the hints of what can be wrong with the file.
const pageAnew = "; or remove it: the page then gets a new name, and whoever is logged in logs in again"

// pageNameForm is how the name lies in its file.
var pageNameForm = regexp.MustCompile(`^[0-9a-f]{32}$`) //nolint:gochecknoglobals // it is constant

// pageName reads the name under which browsers find the page of this data directory, or
// makes it: chance, below localhost, which browsers look for on their own machine. Under
// 127.0.0.1 or localhost a browser would send the page's cookie to every port of the
// machine, whoever serves there; of this name nobody else knows.
func (d *dataDir) pageName() (string, error) {
	path := d.file(pageFile)
	raw, err := os.ReadFile(path)
	switch {
	case err == nil:
		return d.keptPageName(raw)
	case !errors.Is(err, fs.ErrNotExist):
		return "", failed(err, "the file with the page's name cannot be read", "make "+path+" readable for yourself"+pageAnew)
	}
	chance := make([]byte, pageNameBytes)
	if _, err := io.ReadFull(rand.Reader, chance); err != nil {
		return "", fmt.Errorf("randomness: %w", err)
	}
	name := hex.EncodeToString(chance)
	if err := writeWhole(path, []byte(name+"\n")); err != nil {
		return "", failed(err, "the file with the page's name cannot be written", "make room, or use another folder with --data DIR")
	}
	return name + ".localhost", nil
}

func (d *dataDir) keptPageName(raw []byte) (string, error) {
	path := d.file(pageFile)
	info, err := os.Lstat(path)
	if err != nil {
		return "", failed(err, "the file with the page's name cannot be looked at", "try again")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", failed(nil, fmt.Sprintf("the file with the page's name, %s, is open to others (mode %04o, expected 0600)", path, info.Mode().Perm()),
			"others may know the name: remove the file, and the page gets a new one")
	}
	name := strings.TrimSpace(string(raw))
	if !pageNameForm.MatchString(name) {
		return "", failed(nil, "the file "+path+" does not hold a name of a page: expected 32 hexadecimal digits", "restore it from a backup"+pageAnew)
	}
	return name + ".localhost", nil
}

// page is the address at which browsers find the page: the operator's, or the name of
// the data directory at the port that is listened to.
func (f upFlags) page(d *dataDir, listening net.Addr) (string, error) {
	if f.pageURL != "" {
		return f.pageURL, nil
	}
	name, err := d.pageName()
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(listening.String())
	if err != nil {
		return "", failed(err, "the port that is listened to is not known", "")
	}
	if port == "80" {
		return "http://" + name, nil
	}
	return "http://" + name + ":" + port, nil
}

// checkPageURL brings the operator's address of the page into the form that browsers use.
func checkPageURL(text string) (string, error) {
	const form = "it has the form https://earshot.example.org, without a path; name the address that browsers use, not the one behind the proxy"
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(strings.ToLower(text))
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", usage(fmt.Sprintf("--page-url %q is no address of a page", text), form)
	}
	if u.Scheme == "http" && !staysHere(u.Hostname()) {
		return "", usage(fmt.Sprintf("--page-url %s is on another machine, and plain HTTP can be read and changed on its way", text),
			"put a proxy with TLS before it and name its address, such as https://"+u.Host)
	}
	if port := u.Port(); port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		u.Host = strings.TrimSuffix(strings.TrimSuffix(u.Host, ":"+port), ":")
	}
	origin := u.Scheme + "://" + u.Host
	if !web.IsOrigin(origin) {
		return "", usage(fmt.Sprintf("--page-url %q is no address of a page", text), form)
	}
	return origin, nil
}

// checkOrigins demands origins as browsers write them.
func checkOrigins(origins []string) error {
	for _, origin := range origins {
		if !web.IsOrigin(origin) {
			return usage(fmt.Sprintf("--allow-origin %q is no origin", origin),
				"it has the form https://name or https://name:port, in small letters, without a path and without the usual port; every origin (*) cannot be allowed")
		}
	}
	return nil
}

// staysHere answers whether a browser looks for a name on its own machine.
func staysHere(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// shared answers whether others on this machine can be sent the cookie of a page that is
// there: they can serve another port of the same name, which they know.
func shared(pageURL string) bool {
	u, err := url.Parse(pageURL)
	return err == nil && u.Scheme == "http" && !pageNameForm.MatchString(strings.TrimSuffix(u.Hostname(), ".localhost"))
}
