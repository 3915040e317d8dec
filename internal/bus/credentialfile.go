package bus

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// credentialLimit is far larger than the JSON of any credentials.
const credentialLimit = 64 << 10

// ReadCredentials reads a principal's credential file, which must not be readable by others. Errors: invalid, with what
// is wrong and what to do.
func ReadCredentials(path string) (Credentials, error) {
	f, err := os.Open(filepath.Clean(path)) //nolint:gosec // who starts the program names the file
	if err != nil {
		return Credentials{}, &Error{Code: CodeInvalid, Message: "the credentials cannot be read: " + err.Error(), Err: err}
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	if err != nil {
		return Credentials{}, &Error{Code: CodeInvalid, Message: "the credentials cannot be read: " + err.Error(), Err: err}
	}
	if mode := info.Mode(); mode.IsRegular() && mode.Perm()&0o077 != 0 {
		return Credentials{}, invalidf("others may read the credentials in %s (%s); run `chmod 600` on it, and have new ones made if somebody may have", path, mode.Perm())
	}
	raw, err := io.ReadAll(io.LimitReader(f, credentialLimit))
	if err != nil {
		return Credentials{}, &Error{Code: CodeInvalid, Message: "the credentials cannot be read: " + err.Error(), Err: err}
	}
	var c Credentials
	if err := json.Unmarshal(raw, &c); err != nil {
		return Credentials{}, &Error{Code: CodeInvalid, Message: fmt.Sprintf("%s holds no credentials: %s", path, err), Err: err}
	}
	return c, c.check(c.Project)
}
