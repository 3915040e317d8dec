package sqlite

import (
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"sync"

	"modernc.org/sqlite"
)

// hashFunction is SHA-256 in hex, which SQLite does not have by itself.
const hashFunction = "earshot_sha256"

// extend gives every connection that is opened from now on the functions that the statements
// call. The driver keeps them for the whole process.
var extend = sync.OnceValue(func() error {
	return sqlite.RegisterDeterministicScalarFunction(hashFunction, 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		text, is := args[0].(string)
		if !is {
			return nil, fmt.Errorf("%s takes a text, not %T", hashFunction, args[0])
		}
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:]), nil
	})
})
