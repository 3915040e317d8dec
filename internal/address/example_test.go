package address_test

import (
	"fmt"

	"github.com/earshot-dev/earshot/internal/address"
)

// Plain HTTP stays on this machine.
func Example() {
	at, err := address.Loopback("localhost:7411")
	fmt.Println(at, err)
	_, err = address.Loopback("0.0.0.0:7411")
	fmt.Println(err)
	page, err := address.PageURL("https://Earshot.Example.org:443/")
	fmt.Println(page, err)
	// Output:
	// 127.0.0.1:7411 <nil>
	// --http 0.0.0.0:7411 is not on the loopback, and plain HTTP elsewhere can be read and changed on its way
	// https://earshot.example.org <nil>
}
