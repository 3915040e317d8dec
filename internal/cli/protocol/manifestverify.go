package protocol

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/manifest"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/manifestkey"
	"github.com/earshot-dev/earshot/internal/usage"
)

const (
	manifestPath = "/.well-known/aaep-manifest.json"
	keysPath     = "/.well-known/jwks.json"
	fetchTime    = 30 * time.Second
)

// verifyFlags are the flags of `earshot manifest verify`.
type verifyFlags struct {
	keys, agent string
	asJSON      bool
}

// verification is what `earshot manifest verify --json` prints.
type verification struct {
	Valid   bool             `json:"valid"`
	Code    manifest.Code    `json:"code,omitzero"`    // why not
	Problem string           `json:"problem,omitzero"` // the same, for a person
	Rule    string           `json:"rule,omitzero"`    // the rule of AAEP that is broken
	Trust   string           `json:"trust"`            // given: the keys came with --keys; same_server: from where the manifest came
	KeyID   string           `json:"kid,omitzero"`
	Signed  string           `json:"algorithm,omitzero"`
	Agent   string           `json:"agent_id,omitzero"`
	Version string           `json:"agent_version,omitzero"`
	Levels  []int            `json:"conformance_levels_supported,omitzero"`
	By      []aaep.Transport `json:"transports_supported,omitzero"`
}

func (m *commands) manifestVerifyCommand() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify URL|FILE",
		Short: "Say whether a signed manifest is genuine",
		Long: `Verify the signed manifest of a server, or in a file, or on standard input for -. With
--keys the signature shows who has signed, for you have the keys from somebody you trust.
Without it the keys are fetched from the same server: that shows that manifest and keys
belong together, and not whose they are.

A manifest also has to be of the agent that --agent names, and may claim no level that its
own event types and transports cannot keep.

Exit code: 0 everything holds, 1 something does not or could not be fetched, 2 usage.`,
		Example: `  earshot manifest verify --keys manifest.pem.jwks --agent earshot https://earshot.example.org
  earshot manifest verify --keys manifest.pem.jwks manifest.jws`,
		Args:              usage.One("an address or a file"),
		RunE:              func(c *cobra.Command, args []string) error { return m.verifyManifest(c.Context(), f, args[0]) },
		ValidArgsFunction: cli.CompleteFiles,
	}
	flags := c.Flags()
	flags.StringVar(&f.keys, "keys", "", "file with the public keys that you trust, a JWK set such as FILE.jwks")
	flags.StringVar(&f.agent, "agent", "", "agent_id that the manifest must have")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON object")
	cli.MarkPaths(c, nil, []string{"keys"})
	return c
}

func (m *commands) verifyManifest(ctx context.Context, f verifyFlags, from string) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	at, err := addressOf(from)
	if err != nil {
		return err
	}
	if at == nil && f.keys == "" {
		return cause.Misuse("there are no keys to verify a file with", "name those that you trust with --keys")
	}
	keys, err := m.trustedKeys(ctx, f.keys, at)
	if err != nil {
		return err
	}
	message, err := m.signedManifest(ctx, from, at)
	if err != nil {
		return err
	}
	expected := manifest.Expected{Keys: keys, Now: m.Now(), AgentID: f.agent}
	return m.reportVerification(expected, strings.TrimSpace(string(message)), f)
}

// reportVerification prints what was found.
func (m *commands) reportVerification(expected manifest.Expected, message string, f verifyFlags) error {
	v, err := expected.Verify(message)
	found := verification{
		Valid: err == nil, Trust: "given", KeyID: v.Key.ID, Signed: string(v.Key.Algorithm), Agent: v.Manifest.AgentID, Version: v.Manifest.AgentVersion,
		Levels: v.Manifest.ConformanceLevelsSupported, By: v.Manifest.TransportsSupported,
	}
	if f.keys == "" {
		found.Trust = "same_server"
	}
	refused, is := errors.AsType[*manifest.Error](err)
	if is {
		found.Code, found.Problem, found.Rule = refused.Code, refused.Plain(), refused.Rule
	}
	switch {
	case f.asJSON:
		if err := m.WriteJSON(found); err != nil {
			return err
		}
	case found.Valid:
		m.printVerified(found)
	default:
		return cause.Fail(err, "the manifest cannot be trusted", "do not use it; fetch it again, from an address that you trust")
	}
	if !found.Valid {
		return &cli.ExitError{Code: cli.ExitFailed}
	}
	return m.OutputError()
}

func (m *commands) printVerified(v verification) {
	m.Printf("The signature holds: %s, with the key %s.", v.Signed, cause.OneLine(v.KeyID))
	m.Printf("The manifest is of the agent %s.", cause.OneLine(strings.TrimSpace(v.Agent+" "+v.Version)))
	if len(v.Levels) > 0 {
		m.Printf("It claims the levels %s, and its events and transports are enough for them.", listed(v.Levels))
	}
	if len(v.By) > 0 {
		m.Printf("Transports: %s.", cause.OneLine(listed(v.By)))
	}
	if v.Trust != "given" {
		m.Printf("The keys came from the same server, so this does not show whose they are. Name keys that you trust with --keys.")
	}
}

// listed is values with commas between them.
func listed[V any](values []V) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, ", ")
}

// addressOf reads an address; nil means a file.
func addressOf(from string) (*url.URL, error) {
	if !strings.Contains(from, "://") {
		return nil, nil //nolint:nilnil // it is a file
	}
	at, err := url.Parse(from)
	if err != nil || at.Host == "" || !slices.Contains([]string{"http", "https"}, at.Scheme) {
		return nil, cause.Misuse("the address "+from+" is not one of a server", "it has the form https://earshot.example.org")
	}
	if at.Path == "" || at.Path == "/" {
		at.Path = manifestPath
	}
	return at, nil
}

// trustedKeys are those of a file, or of the server that the manifest comes from.
func (m *commands) trustedKeys(ctx context.Context, file string, at *url.URL) (manifest.Keys, error) {
	if file != "" {
		return manifestkey.ReadPublic(file)
	}
	raw, _, err := m.fetch(ctx, (&url.URL{Scheme: at.Scheme, Host: at.Host, Path: keysPath}).String(), "application/jwk-set+json, application/json")
	if err != nil {
		return nil, err
	}
	keys, err := manifest.ParseKeys(raw)
	if err != nil {
		return nil, cause.Fail(err, "the server publishes no key that signs manifests", "start it with --manifest-key, or name keys that you trust with --keys")
	}
	return keys, nil
}

// signedManifest is the message of a file or a server.
func (m *commands) signedManifest(ctx context.Context, from string, at *url.URL) ([]byte, error) {
	if at == nil {
		return m.readDocument(from)
	}
	raw, kind, err := m.fetch(ctx, at.String(), "application/jose")
	if err != nil {
		return nil, err
	}
	if kind != "application/jose" {
		return nil, cause.Fail(nil, "the server serves its manifest without a signature", "if it is an Earshot server, start it with --manifest-key")
	}
	return raw, nil
}

// fetch reads a document. It follows no redirect: another server would speak in this one's name.
func (m *commands) fetch(ctx context.Context, address, accept string) (raw []byte, kind string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, "", cause.Fail(err, address+" cannot be asked", "")
	}
	request.Header.Set("Accept", accept)
	by, err := m.Transport()
	if err != nil {
		return nil, "", err
	}
	client := &http.Client{Transport: by, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		return nil, "", cause.Fail(err, address+" cannot be fetched", "check the address, and that the server runs")
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, "", cause.Fail(nil, fmt.Sprintf("%s answers %s, expected 200 OK", address, answer.Status), "check the address")
	}
	kind, _, _ = strings.Cut(answer.Header.Get("Content-Type"), ";")
	raw, err = readSmall(answer.Body, address)
	return raw, kind, err
}
