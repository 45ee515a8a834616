// SPDX-License-Identifier: MIT

// echo.go - the server of bench/echo: a goroutine a connection
package main

import (
	"net"
	"os"
	"strconv"
)

func serve(c net.Conn) {
	defer c.Close()
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		if _, err = c.Write(buf[:n]); err != nil {
			return
		}
	}
}

func main() {
	fd, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	l, err := net.FileListener(os.NewFile(uintptr(fd), "listener"))
	if err != nil {
		panic(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		go serve(c)
	}
}
