// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A token for tests: an ERC-20 of six decimals that three kinds of recipients bring out of its ordinary way. It is compiled by
/// `compile.ts` beside it, and a test compares what is committed with what this source compiles to.
contract TestToken {
    string public constant name = "Test Token";
    string public constant symbol = "TEST";
    uint8 public constant decimals = 6;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    /// Transfers to these revert, as those to blocked holders of real tokens do.
    mapping(address => bool) public isRefused;
    /// Transfers to these answer false and move nothing, as some old tokens do.
    mapping(address => bool) public isIgnored;

    /// Transfers to these deliver a hundredth less, as those of tokens with a fee do.
    mapping(address => bool) public isTaxed;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor(uint256 supply) {
        totalSupply = supply;
        balanceOf[msg.sender] = supply;
        emit Transfer(address(0), msg.sender, supply);
    }

    function refuse(address holder) external {
        isRefused[holder] = true;
    }

    function ignore(address holder) external {
        isIgnored[holder] = true;
    }

    function tax(address holder) external {
        isTaxed[holder] = true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        require(!isRefused[to], "this holder is refused");
        if (isIgnored[to]) return false;
        require(balanceOf[msg.sender] >= value, "there is not so much");
        balanceOf[msg.sender] -= value;
        uint256 fee = isTaxed[to] ? value / 100 : 0;
        balanceOf[to] += value - fee;
        emit Transfer(msg.sender, to, value - fee);
        if (fee > 0) {
            balanceOf[address(this)] += fee;
            emit Transfer(msg.sender, address(this), fee);
        }
        return true;
    }
}
