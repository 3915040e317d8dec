package openapi

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// origin is a scheme, a host and a port, in one spelling.
type origin string

// originOf is where an address leads. The error says what is wrong with it.
func originOf(u *url.URL) (origin, error) {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return "", fmt.Errorf("the scheme is %q; expected https, or http", u.Scheme)
	case u.User != nil:
		return "", errors.New("it holds a user name or a password; secrets are named under secrets")
	case u.Opaque != "" || host == "":
		return "", errors.New("it has no host")
	case strings.ContainsFunc(host, func(r rune) bool { return r > 0x7e || r <= ' ' || strings.ContainsRune(`%\"<>^|{}`+"`", r) }):
		return "", fmt.Errorf("the host %q is not in ASCII; write its xn-- form", host)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return origin(u.Scheme + "://" + host + ":" + port), nil
}

// allowedOrigin reads an entry of hosts: a host, which means https, or an origin.
func allowedOrigin(text string) (origin, error) {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", errors.New("it cannot be read")
	}
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("it has a path; expected a host, such as api.example.org or http://127.0.0.1:8080")
	}
	return originOf(u)
}
