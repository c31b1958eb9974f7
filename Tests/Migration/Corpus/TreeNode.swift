// A tree with weak parents, nested classes and totals that follow paths.
import Foundation

enum TreeKit {
  class Node: NSObject {
    @objc dynamic var weight: Int
    @objc dynamic weak var parent: Node?
    private(set) var children: [Node] = []

    init(_ weight: Int) {
      self.weight = weight
      super.init()
    }

    func add(_ node: Node) {
      children.append(node)
      node.parent = self
    }

    final class Leaf: Node {
      @objc dynamic var label = "leaf"
    }
  }
}

func treeNode(_ journal: Journal) {
  let (root, other, leaf) = (TreeKit.Node(5), TreeKit.Node(7), TreeKit.Node.Leaf(1))
  let token = leaf.observe(\.parent?.weight, options: [.new]) { leaf, _ in
    journal.write("parent \(leaf.parent?.weight ?? 0)")
  }
  let labels = leaf.observe(\.label) { leaf, _ in journal.write(leaf.label) }
  root.add(leaf)
  root.weight = 6
  other.add(leaf)
  root.weight = 8
  other.weight = 9
  leaf.label = "twig"
  token.invalidate()
  labels.invalidate()
  journal.write("\(leaf.value(forKeyPath: "parent.weight") as! Int)")
}
