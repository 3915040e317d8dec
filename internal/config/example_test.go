package config_test

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/earshot-dev/earshot/internal/config"
)

// A flag that was given counts before its variable.
func Example() {
	flags := pflag.NewFlagSet("up", pflag.ContinueOnError)
	flags.String("http", "127.0.0.1:7411", "")
	flags.StringArray("root", nil, "")
	flags.String(config.Flag, "", "")
	if err := flags.Parse([]string{"--http", "127.0.0.1:0"}); err != nil {
		panic(err)
	}
	variables := map[string]string{"EARSHOT_HTTP": "127.0.0.1:1", "EARSHOT_ROOT": "[/srv/scans, /srv/mail]"}
	if _, err := config.Fill(flags, func(name string) string { return variables[name] }); err != nil {
		panic(err)
	}
	fmt.Println(flags.Lookup("http").Value, flags.Lookup("root").Value)
	// Output: 127.0.0.1:0 [/srv/scans,/srv/mail]
}
