package address

import (
	"fmt"
	"net"
	"strconv"

	"github.com/earshot-dev/earshot/internal/cause"
)

// Split splits the address that a flag names into its host and its port, which is a number. Example is an address that would do.
func Split(flag, text, example string) (host, port string, err error) {
	hint := "for example " + flag + " " + example
	host, port, err = net.SplitHostPort(text)
	if err != nil {
		return "", "", cause.Misuse(fmt.Sprintf("%s %.64q is not an address with a port", flag, text), hint)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", "", cause.Misuse(fmt.Sprintf("%s %.64q has the port %.64q; expected a number from 0 to 65535", flag, text, port), hint)
	}
	return host, port, nil
}
