'use strict'
// A mocha reporter: a line a case into $MOCHA_CASES, what failed and why on standard output.
const fs = require('fs')

module.exports = function (runner) {
  const put = (verdict, test) => fs.appendFileSync(process.env.MOCHA_CASES, verdict + '\t' + test.fullTitle() + '\n')
  runner.on('pass', (test) => put('pass', test))
  runner.on('pending', (test) => put('skip', test))
  runner.on('fail', (test, err) => {
    put('fail', test)
    console.log(test.fullTitle() + '\n' + (err && err.stack))
  })
}
