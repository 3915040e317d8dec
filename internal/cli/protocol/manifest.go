package protocol

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/manifest"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/manifestkey"
	"github.com/earshot-dev/earshot/internal/usage"
)

func (m *commands) manifestCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "manifest",
		Short: "Sign and verify the manifest of a producer",
		Long: `A manifest says what an AAEP producer is and what it can do. A signature shows who has
written it, and that nobody has changed it since.

  earshot manifest keygen manifest.pem
  earshot up --manifest-key manifest.pem
  earshot manifest verify --keys manifest.pem.jwks http://127.0.0.1:7411`,
		Args: usage.KnownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(m.manifestKeygenCommand(), m.manifestSignCommand(), m.manifestVerifyCommand(), m.manifestRotateCommand())
	return c
}

func (m *commands) manifestKeygenCommand() *cobra.Command {
	algorithm := string(manifest.ES256)
	c := &cobra.Command{
		Use:   "keygen FILE",
		Short: "Make a key to sign manifests with",
		Long: `Make a key to sign manifests with, in a new file that only you can read, and its public
half in FILE.jwks, which others verify with. ES256 is what AAEP recommends.`,
		Example: `  earshot manifest keygen ~/keys/manifest.pem`,
		Args:    usage.One("the file of the new key"),
		RunE: func(_ *cobra.Command, args []string) error {
			key, err := manifestkey.Make(args[0], manifest.Algorithm(algorithm))
			if err != nil {
				return err
			}
			m.Printf("The key is in %s, its public half in %s. Its kid is %s.", cause.OneLine(args[0]), cause.OneLine(manifestkey.PublicFile(args[0])), key.ID)
			return m.OutputError()
		},
		ValidArgsFunction: cli.CompleteFiles,
	}
	c.Flags().StringVar(&algorithm, "algorithm", algorithm, "ES256, EdDSA or RS256")
	names := []string{string(manifest.ES256), string(manifest.EdDSA), string(manifest.RS256)}
	_ = c.RegisterFlagCompletionFunc("algorithm", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (m *commands) manifestSignCommand() *cobra.Command {
	var key string
	c := &cobra.Command{
		Use:   "sign --key KEY [FILE]",
		Short: "Sign a manifest",
		Long: `Sign the manifest in FILE, or on standard input, and write it as one line (a compact JWS).
A manifest that breaks a rule is not signed; ` + "`earshot validate FILE`" + ` says all that is wrong.`,
		Example: `  earshot manifest sign --key manifest.pem manifest.json > manifest.jws`,
		Args:    usage.AtMostOne("the file of the manifest"),
		RunE: func(_ *cobra.Command, args []string) error {
			if key == "" {
				return cause.Misuse("no key is named", "name the file that `earshot manifest keygen` has made with --key")
			}
			document, err := m.readDocument(append(args, "-")[0])
			if err != nil {
				return err
			}
			return m.signManifest(document, key)
		},
		ValidArgsFunction: cli.CompleteFiles,
	}
	c.Flags().StringVar(&key, "key", "", "file with the key")
	cli.MarkPaths(c, nil, []string{"key"})
	return c
}

func (m *commands) signManifest(document []byte, file string) error {
	pair, err := manifestkey.Open(file, m.Now())
	if err != nil {
		return err
	}
	signed, err := manifest.Sign(document, pair.Private)
	if err != nil {
		return cause.Fail(err, "the manifest was not signed", "see `earshot validate` on the file")
	}
	m.Printf("%s", signed)
	return m.OutputError()
}

func (m *commands) manifestRotateCommand() *cobra.Command {
	days := 30
	c := &cobra.Command{
		Use:   "rotate FILE",
		Short: "Change a key for a new one",
		Long: `Make a new key of the same kind in FILE, and delete the old one. Its public half stays in
FILE.jwks for 30 days, so that manifests which others have kept still verify. With --days 0
all old keys leave that file at once: do that when the key may be in other hands. Then start
the server again, and give the file to those who have a copy: until then the old key counts.`,
		Example: `  earshot manifest rotate ~/keys/manifest.pem --days 7`,
		Args:    usage.One("the file of the key"),
		RunE: func(_ *cobra.Command, args []string) error {
			if days < 0 {
				return cause.Misuse(fmt.Sprintf("--days is %d", days), "give 0 or more")
			}
			now := m.Now()
			until := now.AddDate(0, 0, days)
			next, former, err := manifestkey.Rotate(args[0], until, now)
			if err != nil {
				return err
			}
			m.Printf("The new key has the kid %s.", next.ID)
			if days > 0 {
				m.Printf("The old key, %s, counts until %s.", former.ID, former.Until.UTC().Format(time.RFC3339))
			} else {
				public := cause.OneLine(manifestkey.PublicFile(args[0]))
				m.Printf("The old key, %s, is no longer in %s. Those who have a copy of that file still trust it: give them the new one.", former.ID, public)
			}
			m.Printf("Start the server again. Until then it signs with the old key, and publishes it.")
			return m.OutputError()
		},
		ValidArgsFunction: cli.CompleteFiles,
	}
	c.Flags().IntVar(&days, "days", days, "for how many days the old key still counts")
	return c
}

// readDocument reads a file, or standard input for -, up to the size of a signed manifest.
func (m *commands) readDocument(name string) ([]byte, error) {
	in, _, err := m.openInput(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	return readSmall(in, name)
}

// readSmall reads what has to fit into a signed manifest.
func readSmall(in io.Reader, name string) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(in, manifest.MaxBytes+1))
	switch {
	case err != nil:
		return nil, cause.Fail(err, name+" cannot be read", "")
	case len(raw) > manifest.MaxBytes:
		return nil, cause.Fail(nil, fmt.Sprintf("%s is larger than %d bytes, the most for a manifest", name, manifest.MaxBytes), "")
	}
	return raw, nil
}
