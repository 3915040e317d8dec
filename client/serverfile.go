package client

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/internal/cause"
)

// ServerInfo holds a server's address and the credentials for programs of the same user. A server writes it into its
// data directory, in a file that only that user may read.
type ServerInfo struct {
	URL    string `json:"url"`
	Page   string `json:"page"` // the page's address for browsers
	PID    int    `json:"pid"`
	Person string `json:"person"`
	Token  string `json:"token"`
	// Socket is the path of the Unix socket for listeners of this machine; "" if there is none.
	Socket string `json:"socket,omitzero"`
	// Policy is the absolute path of the operator's rules; "" if there are none.
	Policy  string    `json:"policy,omitzero"`
	Started time.Time `json:"started"`
}

// maxFile limits the size of the files that are read here.
const maxFile = 64 << 10

// ReadServerFile reads a server's file. If it does not exist, the error is [ErrUnreachable].
func ReadServerFile(path string) (ServerInfo, error) {
	raw, err := readShort(path)
	if err != nil {
		return ServerInfo{}, &Error{
			Code: CodeUnreachable, Message: "no server has left its address in " + path,
			Hint: "start it with `earshot up`, or name it with --url and --token-file", Err: err,
		}
	}

	var p ServerInfo
	if err := json.Unmarshal(raw, &p); err != nil || p.URL == "" || p.Token == "" {
		return ServerInfo{}, &Error{
			Code: CodeUnreachable, Message: "the file " + path + " does not say where a server is",
			Hint: "start `earshot up` again; it writes the file again", Err: err,
		}
	}

	return p, nil
}

func readShort(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says what cannot be read
	}

	defer func() { _ = f.Close() }()

	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(raw) > maxFile {
		err = fmt.Errorf("%s is larger than 64 KiB", path)
	}

	if err != nil {
		return nil, err
	}

	return raw, nil
}

// serverInfo returns the server's address and token; it reads the files each time.
func (c *Client) serverInfo() (ServerInfo, error) {
	p := ServerInfo{URL: c.o.URL, Token: c.o.Token}

	if c.o.ServerFile != "" {
		var err error
		if p, err = ReadServerFile(c.o.ServerFile); err != nil {
			return ServerInfo{}, err
		}
	}

	if c.o.TokenFile != "" {
		raw, err := readShort(c.o.TokenFile)
		if err != nil {
			return ServerInfo{}, &Error{
				Code: CodeUsage, Message: "the token file cannot be read: " + cause.Of(err), Hint: "name a file that holds a token, as `earshot token add` shows it", Err: err,
			}
		}

		first, _, _ := strings.Cut(strings.TrimSpace(string(raw)), "\n")
		p.Token = strings.TrimSpace(first)
	}

	if p.Token == "" {
		return ServerInfo{}, &Error{Code: CodeUsage, Message: "there is no token to say who this is", Hint: "make one with `earshot token add` and name its file with --token-file"}
	}

	var err error
	p.URL, err = checkedURL(p.URL)

	return p, err
}

// checkedURL returns the address in canonical form.
func checkedURL(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", &Error{
			Code: CodeUsage, Message: fmt.Sprintf("%q is not the address of a server", address), Err: err,
			Hint: "it has the form http://127.0.0.1:7411 or https://name; ws and wss in their place listen over a WebSocket",
		}
	}

	if u.Scheme == "http" && !subscribe.IsLocal(u.Hostname()) {
		return "", &Error{
			Code: CodeInsecure, Message: fmt.Sprintf("%s is another machine, and the connection would not be encrypted", u.Host),
			Hint: "use https, or a tunnel to the loopback of that machine",
		}
	}

	return strings.TrimSuffix(u.String(), "/"), nil
}

// IsLocal reports whether an address belongs to this machine.
func IsLocal(address string) bool {
	u, err := url.Parse(address)

	return err == nil && subscribe.IsLocal(u.Hostname())
}
